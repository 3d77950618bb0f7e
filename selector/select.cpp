#include "selector/select.hpp"

#include <algorithm>
#include <cmath>

#include "model/catalogue.hpp"
#include "model/error.hpp"
#include "selector/offer.hpp"
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
  return {strategy, std::move(cost), schedule.buffered_blocks_max, schedule.buffered_bytes_max};
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
  return strategy.coalescing == Coalescing::coalesced && !catalogue_row(strategy.route).needs_traffic;
}

Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model) {
  require_price(strategy, machine, model);
  const auto route = make_route(strategy, layout, pattern);
  return price(strategy, make_schedule(*route, strategy.window, pattern, strategy.coalescing), layout, machine, model);
}

std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                                       std::span<const Strategy> strategies) {
  const bool searches = strategies.empty();
  const auto given = searches ? offered_strategies(layout, machine, model) : std::vector(strategies.begin(), strategies.end());
  for (const auto& strategy : given) require_price(strategy, machine, model);
  const bool needs_traffic = std::ranges::any_of(given, [](const Strategy& s) { return catalogue_row(s.route).needs_traffic; });
  const auto traffic = needs_traffic ? node_traffic(pattern, layout) : NodeTraffic{};
  const auto prepared = prepare(pattern);
  const auto groups = by_route(given);
  std::vector<Candidate> ranking(given.size());
  const auto price_group = [&](std::size_t g) {
    const auto& first = given[groups[g].front()];
    auto schedule = make_schedule(*make_route(first, layout, traffic), {}, prepared, first.coalescing);
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
    search_strategies(ranking, layout, std::ssize(prepared.blocks), [&](const Strategy& strategy) {
      const auto route = make_route(strategy, layout, traffic);
      return price(strategy, make_schedule(*route, strategy.window, prepared, strategy.coalescing), layout, machine, model);
    });
  sort_by_time(ranking);
  return ranking;
}

Candidate price_alltoall(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model) {
  if (!has_closed_form(strategy)) throw NotApplicable(to_string(strategy), "it has no closed form");
  require_price(strategy, machine, model);
  auto cost = estimate_alltoall(bytes, *make_route(strategy, layout), strategy.window, layout, machine, model);
  cost.seconds = comparable(cost.seconds);
  return {strategy, std::move(cost), {}, {}};
}

std::vector<Candidate> rank_alltoall(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model, std::span<const Strategy> strategies) {
  const bool searches = strategies.empty();
  auto given = searches ? offered_strategies(layout, machine, model) : std::vector(strategies.begin(), strategies.end());
  if (searches) std::erase_if(given, [](const Strategy& s) { return !has_closed_form(s); });
  const auto price_one = [&](const Strategy& strategy) { return price_alltoall(strategy, bytes, layout, machine, model); };
  std::vector<Candidate> ranking;
  for (const auto& strategy : given) ranking.push_back(price_one(strategy));
  if (searches) search_strategies(ranking, layout, layout.ranks(), price_one);
  sort_by_time(ranking);
  return ranking;
}

}  // namespace commpass
