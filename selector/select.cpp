#include "selector/select.hpp"

#include <algorithm>
#include <cmath>

#include "model/catalogue.hpp"
#include "model/error.hpp"
#include "selector/parallel.hpp"
#include "selector/search.hpp"

namespace commpass {

namespace {

/// Seconds to nine digits: differences beyond that are rounding, not a reason.
double comparable(Seconds seconds) {
  if (seconds <= 0) return 0;
  constexpr int digits = 9;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(seconds)));
  return std::round(seconds * scale) / scale;
}

/// Prices a schedule that a strategy has made.
Candidate price(const Strategy& strategy, const Schedule& schedule, const Layout& layout, const Machine& machine, CostModel model) {
  auto cost = evaluate(schedule, layout, machine, model);
  cost.seconds = comparable(cost.seconds);
  Bytes sent = 0;
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) sent += message.bytes;
  return {strategy, std::move(cost), schedule.buffered_blocks_max, schedule.buffered_bytes_max, sent};
}

/// The numbers of strategies that differ in nothing but their window, and so need one schedule.
std::vector<std::vector<std::size_t>> by_route(std::span<const Strategy> strategies) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    const auto same_route = [&](const std::vector<std::size_t>& group) {
      auto other = strategies[group.front()];
      other.window = strategies[i].window;
      return other == strategies[i];
    };
    const auto group = std::ranges::find_if(groups, same_route);
    if (group == groups.end()) groups.push_back({i});
    else group->push_back(i);
  }
  return groups;
}

void sort_by_time(std::vector<Candidate>& ranking) {
  std::ranges::stable_sort(ranking, {}, [](const Candidate& c) { return c.cost.seconds; });
}

}  // namespace

bool has_closed_form(const Strategy& strategy) {
  return strategy.coalescing == Coalescing::coalesced && pattern_need(strategy) == PatternNeed::nothing;
}

Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model) {
  const auto route = make_route(strategy, layout, pattern);
  return price(strategy, make_schedule(*route, strategy.window, pattern, strategy.coalescing), layout, machine, model);
}

std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                                       std::span<const Strategy> strategies) {
  const bool searches = strategies.empty();
  const auto given = searches ? suggest_strategies(layout) : std::vector(strategies.begin(), strategies.end());
  const auto prepared = prepare(pattern);
  const auto groups = by_route(given);
  std::vector<Candidate> ranking(given.size());
  const auto price_group = [&](std::size_t g) {
    const auto& first = given[groups[g].front()];
    auto schedule = make_schedule(*make_route(first, layout, pattern), {}, prepared, first.coalescing);
    for (const auto i : groups[g]) {
      set_window(schedule, given[i].window);
      ranking[i] = price(given[i], schedule, layout, machine, model);
    }
  };
  constexpr std::size_t worth_a_thread = 10000;  // below, starting threads takes as long as what they do
  constexpr unsigned most_threads = 8;          // each holds a schedule
  if (prepared.blocks.size() < worth_a_thread)
    for (std::size_t g = 0; g < groups.size(); ++g) price_group(g);
  else
    in_parallel(groups.size(), price_group, [](std::size_t) {}, most_threads);
  if (searches)
    search_strategies(ranking, layout, std::ssize(prepared.blocks), [&](const Strategy& strategy) -> std::optional<Candidate> {
      const auto route = make_route(strategy, layout, pattern);
      return price(strategy, make_schedule(*route, strategy.window, prepared, strategy.coalescing), layout, machine, model);
    });
  sort_by_time(ranking);
  return ranking;
}

Candidate price_alltoall(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model) {
  if (!has_closed_form(strategy)) throw NotApplicable(to_string(strategy), "it has no closed form");
  auto cost = estimate_alltoall(bytes, *make_route(strategy, layout), strategy.window, layout, machine, model);
  cost.seconds = comparable(cost.seconds);
  return {strategy, std::move(cost), {}, {}, {}};
}

std::vector<Candidate> rank_alltoall(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model, std::span<const Strategy> strategies) {
  const bool searches = strategies.empty();
  auto given = searches ? suggest_strategies(layout) : std::vector(strategies.begin(), strategies.end());
  if (searches) std::erase_if(given, [](const Strategy& s) { return !has_closed_form(s); });
  const auto price_one = [&](const Strategy& strategy) { return price_alltoall(strategy, bytes, layout, machine, model); };
  std::vector<Candidate> ranking;
  for (const auto& strategy : given) ranking.push_back(price_one(strategy));
  if (searches)
    search_strategies(ranking, layout, layout.ranks(), [&](const Strategy& strategy) {
      return has_closed_form(strategy) ? std::optional(price_one(strategy)) : std::nullopt;
    });
  sort_by_time(ranking);
  return ranking;
}

}  // namespace commpass
