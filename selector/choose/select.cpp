#include "selector/choose/select.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "model/base/error.hpp"
#include "model/cost/plan_cost.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/family.hpp"
#include "selector/choose/find_grid.hpp"
#include "selector/choose/library_price.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/rank.hpp"
#include "selector/choose/search.hpp"
#include "selector/choose/shortlist.hpp"

namespace commpass {

Strategy as_run(const Candidate& candidate) {
  auto strategy = candidate.strategy;
  if (candidate.limited_window) strategy.window = *candidate.limited_window;
  return strategy;
}

int excess(const Candidate& candidate) {
  if (!candidate.exceeded_limit) return 0;
  return std::string_view(candidate.exceeded_limit).starts_with("messages") ? 2 : 1;
}

Seconds comparable(Seconds seconds) {
  if (seconds <= 0) return 0;
  constexpr int digits = 9;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(seconds)));
  return std::round(seconds * scale) / scale;
}

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

void sort_ranking(std::vector<Candidate>& ranking, const Calls& calls) {
  std::ranges::stable_sort(ranking, {},
                           [&](const Candidate& c) { return std::pair(excess(c), ranked_seconds(c, calls)); });
}

namespace {

Candidate price_random(const Strategy& strategy, const RandomPattern& pattern, const Layout& layout,
                       const Machine& machine, CostModel model, const Calls& calls, Usage usage) {
  if (!has_closed_form(strategy)) throw NotApplicable(to_string(strategy), "it has no closed form");
  require_price(strategy, machine, model, usage);
  const auto route = make_route(strategy, layout);
  const auto [window, demand] = fit(machine.limits, pattern, *route, layout, strategy);
  auto cost = estimate(pattern, *route, window, layout, machine, model, usage, strategy.path);
  cost.seconds = comparable(cost.seconds);
  Candidate candidate{strategy, std::move(cost)};
  if (window != strategy.window) candidate.limited_window = window;
  candidate.demand = demand;
  candidate.exceeded_limit = exceeded_limit(machine.limits, demand, {});
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

Pricer random_pricer(const RandomPattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                     const Calls& calls, Usage usage) {
  return [=, &layout, &machine](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies)
      candidates.push_back(price_random(strategy, pattern, layout, machine, model, calls, usage));
    return candidates;
  };
}

std::vector<Candidate> rank_suggestions(const Pricer& price, std::span<const Strategy> suggestions,
                                        const Layout& layout, std::int64_t edges, const Calls& calls, SearchFrom from) {
  auto ranking = price(suggestions);
  search_strategies(ranking, layout, edges, price, calls, from);
  sort_ranking(ranking, calls);
  return ranking;
}

bool has_closed_form(const Strategy& strategy) {
  return strategy.coalescing == Coalescing::coalesced && pattern_need(strategy) == PatternNeed::nothing &&
         catalogue_row(strategy.route).has_uniform_runs;
}

Pricer leave_out_open_forms(Pricer price) {
  return [price = std::move(price)](std::span<const Strategy> strategies) {
    std::vector<Strategy> closed(strategies.begin(), strategies.end());
    std::erase_if(closed, [](const Strategy& s) { return !has_closed_form(s); });
    return price(closed);
  };
}

namespace {

/// Strategies that a user names: without a path they go by messages alone where the data is in host memory.
std::vector<Strategy> named_on_paths(std::span<const Strategy> strategies, std::span<const DataPath> paths,
                                     const Machine& machine, CostModel model) {
  if (std::ranges::find(paths, DataPath{}) != paths.end()) return {strategies.begin(), strategies.end()};
  return on_paths(strategies, paths, machine, model);
}

}  // namespace

Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine,
                CostModel model, const Calls& calls) {
  const Alternatives alternatives{
      .price = pattern_pricer(pattern, layout, machine, model, calls), .suggestions = {}, .edges = pattern.messages()};
  return rank(alternatives, layout, machine, calls, std::span(&strategy, 1)).front();
}

std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                       CostModel model, std::span<const Strategy> strategies, const Calls& calls,
                                       RankingDepth depth, std::span<const DataPath> paths) {
  const auto price_on = [&](const Machine& on, const LibraryAlgorithm*) {
    return pattern_pricer(pattern, layout, on, model, calls);
  };
  Alternatives alternatives{.price = {},
                            .suggestions = [&] { return strategies_for(pattern, layout, machine, model, {}, paths); },
                            .edges = pattern.messages()};
  const bool has_names = !strategies.empty(), is_for_all = depth == RankingDepth::all;
  if (!has_names && !is_for_all && !calls) alternatives.by_depth = pricers_by_depth(pattern, layout, machine, model);
  if (has_names) alternatives.price = with_library_price(price_on, library_exchange(pattern), layout, machine, model);
  else if (!alternatives.by_depth) alternatives.price = price_on(machine, nullptr);
  if (!has_names && !is_for_all && alternatives.price)
    alternatives.price = price_promising(std::move(alternatives.price), pattern, layout, machine, model, calls);
  return rank(alternatives, layout, machine, calls, named_on_paths(strategies, paths, machine, model));
}

Candidate price_alltoall(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine,
                         CostModel model, const Calls& calls) {
  return rank_alltoall(bytes, layout, machine, model, std::span(&strategy, 1), calls).front();
}

std::vector<Candidate> rank_alltoall(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model,
                                     std::span<const Strategy> strategies, const Calls& calls,
                                     std::span<const DataPath> paths) {
  const RandomPattern blocks{1, 1, static_cast<double>(bytes)};
  const auto price_on = [&](const Machine& on, const LibraryAlgorithm*) {
    return random_pricer(blocks, layout, on, model, calls);
  };
  const Alternatives alternatives{
      .price =
          with_library_price(price_on, library_exchange(blocks, layout, BlockSizes::equal), layout, machine, model),
      .suggestions = [&] { return offered_strategies(layout, machine, model, Usage::planned, paths); },
      .edges = layout.ranks(),
      .has_edges = false};
  return rank(alternatives, layout, machine, calls, named_on_paths(strategies, paths, machine, model));
}

}  // namespace commpass
