#include "selector/choose/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "model/cost/plan_cost.hpp"
#include "model/error.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/family.hpp"
#include "selector/choose/find_grid.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/parallel.hpp"
#include "selector/choose/search.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/told_apart.hpp"

namespace commpass {

namespace {

/// Seconds to nine digits: differences beyond that are rounding, not a reason.
double comparable(Seconds seconds) {
  if (seconds <= 0) return 0;
  constexpr int digits = 9;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(seconds)));
  return std::round(seconds * scale) / scale;
}

}  // namespace

std::vector<std::vector<std::size_t>> by_route(std::span<const Strategy> strategies) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    const auto same_route = [&](const std::vector<std::size_t>& group) {
      auto other = strategies[group.front()];
      other.window = strategies[i].window;
      other.path = strategies[i].path;
      return other == strategies[i];
    };
    const auto group = std::ranges::find_if(groups, same_route);
    if (group == groups.end()) groups.push_back({i});
    else group->push_back(i);
  }
  return groups;
}

namespace {

void sort_ranking(std::vector<Candidate>& ranking, const Calls& calls) {
  std::ranges::stable_sort(ranking, {}, [&](const Candidate& c) { return ranked_seconds(c, calls); });
}

/// A pattern, and what all strategies share when they are priced for it.
class PatternPricer {
 public:
  PatternPricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                const Calls& calls, unsigned threads)
      : pattern_(pattern),
        layout_(layout),
        machine_(machine),
        model_(model),
        counts_calls_(calls.has_value()),
        threads_(threads),
        prepared_(prepare(pattern)) {}

  std::vector<Candidate> price(std::span<const Strategy> strategies) {
    for (const auto& strategy : strategies) require_price(strategy, machine_, model_);
    const auto needs_traffic = [](const Strategy& s) { return pattern_need(s) == PatternNeed::node_traffic; };
    if (!traffic_ && std::ranges::any_of(strategies, needs_traffic)) traffic_ = node_traffic(pattern_, layout_);
    const auto groups = by_route(strategies);
    std::vector<Candidate> candidates(strategies.size());
    const auto price_group = [&](std::size_t g) { this->price_group(groups[g], strategies, candidates); };
    constexpr std::size_t worth_a_thread = 10000;  // below, starting threads takes as long as what they do
    if (threads_ <= 1 || prepared_.blocks.size() < worth_a_thread)
      for (std::size_t g = 0; g < groups.size(); ++g) price_group(g);
    else
      in_parallel(
          groups.size(), price_group, [](std::size_t) {}, threads_);
    return candidates;
  }

 private:
  /// Prices strategies that differ in their window and path alone.
  void price_group(std::span<const std::size_t> group, std::span<const Strategy> strategies,
                   std::vector<Candidate>& candidates) const {
    const auto& first = strategies[group.front()];
    for (const auto i : group) require_applicable(strategies[i], layout_);
    const auto tables = pattern_need(first) == PatternNeed::node_traffic ? PatternTables{*traffic_, {}}
                                                                         : make_tables(first, layout_, pattern_);
    const auto route = make_route(first, layout_, tables);
    auto schedule = make_schedule(*route, {}, prepared_, first.coalescing);
    Bytes sent = 0;
    for (const auto& stage : schedule.stages)
      for (const auto& message : stage.messages) sent += message.bytes;
    for (const auto i : group) {
      set_window(*route, schedule, strategies[i].window);
      auto cost = evaluate(schedule, layout_, machine_, model_, Usage::planned, strategies[i].path);
      cost.seconds = comparable(cost.seconds);
      candidates[i] = {strategies[i], std::move(cost), schedule.buffered_blocks_max, schedule.buffered_bytes_max, sent};
    }
    if (!counts_calls_) return;
    if (first.coalescing == Coalescing::staggered) schedule = make_schedule(*route, {}, prepared_);
    const auto seconds = comparable(plan_seconds(std::move(schedule), first, layout_, machine_, model_));
    for (const auto i : group) candidates[i].plan_seconds = seconds;
  }

  const Pattern& pattern_;
  const Layout& layout_;
  const Machine& machine_;
  CostModel model_;
  bool counts_calls_;
  unsigned threads_;
  PreparedPattern prepared_;
  std::optional<NodeTraffic> traffic_;  // made when it is needed
};

Candidate price_random(const Strategy& strategy, const RandomPattern& pattern, const Layout& layout,
                       const Machine& machine, CostModel model, const Calls& calls, Usage usage,
                       decltype(estimate)& estimate_cost) {
  if (!has_closed_form(strategy)) throw NotApplicable(to_string(strategy), "it has no closed form");
  require_price(strategy, machine, model, usage);
  const auto route = make_route(strategy, layout);
  auto cost = estimate_cost(pattern, *route, strategy.window, layout, machine, model, usage, strategy.path);
  cost.seconds = comparable(cost.seconds);
  Candidate candidate{strategy, std::move(cost)};
  if (calls) candidate.plan_seconds = comparable(estimate_plan_seconds(pattern, *route, layout, machine, model));
  return candidate;
}

}  // namespace

void check_calls(const Calls& calls) {
  if (calls && !(*calls > 0 && *calls <= most_calls))
    throw InputError("calls", fmt::format("{} is no number of exchanges", *calls),
                     fmt::format("use a number above 0, at most {}, or leave it out if they are many", most_calls));
}

Seconds ranked_seconds(const Candidate& candidate, const Calls& calls) {
  return calls ? candidate.plan_seconds.value_or(0) + *calls * candidate.cost.seconds : candidate.cost.seconds;
}

Pricer pattern_pricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                      const Calls& calls, unsigned threads) {
  return [pricer = std::make_shared<PatternPricer>(pattern, layout, machine, model, calls, threads)](
             std::span<const Strategy> strategies) { return pricer->price(strategies); };
}

Pricer random_pricer(const RandomPattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                     const Calls& calls, Usage usage, RandomPart part) {
  return [=, &layout, &machine](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies)
      candidates.push_back(price_random(strategy, pattern, layout, machine, model, calls, usage,
                                        part == RandomPart::whole ? estimate : estimate_lone_sender));
    return candidates;
  };
}

std::vector<Candidate> rank_suggestions(const Pricer& price, std::span<const Strategy> suggestions,
                                        const Layout& layout, std::int64_t edges, const Calls& calls) {
  auto ranking = price(suggestions);
  search_strategies(ranking, layout, edges, price, calls);
  sort_ranking(ranking, calls);
  return ranking;
}

bool has_closed_form(const Strategy& strategy) {
  return strategy.coalescing == Coalescing::coalesced && pattern_need(strategy) == PatternNeed::nothing;
}

Pricer leave_out_open_forms(Pricer price) {
  return [price = std::move(price)](std::span<const Strategy> strategies) {
    std::vector<Strategy> closed(strategies.begin(), strategies.end());
    std::erase_if(closed, [](const Strategy& s) { return !has_closed_form(s); });
    return price(closed);
  };
}

std::vector<Candidate> rank_given(const Pricer& price, std::span<const Strategy> strategies, const Layout& layout,
                                  std::int64_t edges, const Calls& calls) {
  auto ranking = price(with_chosen_values(price, strategies, layout, edges, calls));
  sort_ranking(ranking, calls);
  return ranking;
}

Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine,
                CostModel model, const Calls& calls) {
  return rank_given(pattern_pricer(pattern, layout, machine, model, calls), std::span(&strategy, 1), layout,
                    pattern.messages(), calls)
      .front();
}

std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                       CostModel model, std::span<const Strategy> strategies, const Calls& calls,
                                       RankingDepth depth, std::span<const DataPath> paths) {
  auto price = pattern_pricer(pattern, layout, machine, model, calls);
  if (!strategies.empty())
    return prefer_simple(
        rank_given(price, on_paths(strategies, paths, machine, model), layout, pattern.messages(), calls), machine,
        calls);
  if (depth == RankingDepth::cheapest)
    price = price_promising(std::move(price), pattern, layout, machine, model, calls);
  return prefer_simple(rank_suggestions(price, strategies_for(pattern, layout, machine, model, {}, paths), layout,
                                        pattern.messages(), calls),
                       machine, calls);
}

Candidate price_alltoall(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine,
                         CostModel model, const Calls& calls) {
  return rank_alltoall(bytes, layout, machine, model, std::span(&strategy, 1), calls).front();
}

std::vector<Candidate> rank_alltoall(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model,
                                     std::span<const Strategy> strategies, const Calls& calls,
                                     std::span<const DataPath> paths) {
  const auto price = random_pricer(RandomPattern{1, 1, static_cast<double>(bytes)}, layout, machine, model, calls);
  if (!strategies.empty())
    return prefer_simple(rank_given(price, on_paths(strategies, paths, machine, model), layout, layout.ranks(), calls),
                         machine, calls);
  return prefer_simple(
      rank_suggestions(leave_out_open_forms(price), offered_strategies(layout, machine, model, Usage::planned, paths),
                       layout, layout.ranks(), calls),
      machine, calls);
}

}  // namespace commpass
