#include "selector/select.hpp"

#include <algorithm>
#include <cmath>

#include "model/catalogue.hpp"
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

}  // namespace

Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model) {
  const auto route = make_route(strategy, layout, pattern);
  const auto schedule = make_schedule(*route, strategy.window, pattern, strategy.coalescing);
  auto cost = evaluate(schedule, layout, machine, model);
  cost.seconds = comparable(cost.seconds);
  return {strategy, std::move(cost), schedule.buffered_blocks_max, schedule.buffered_bytes_max};
}

std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                                       std::span<const Strategy> strategies) {
  const bool searches = strategies.empty();
  const auto given = searches ? suggest_strategies(layout) : std::vector(strategies.begin(), strategies.end());
  const auto price_one = [&](const Strategy& strategy) { return price(strategy, pattern, layout, machine, model); };
  std::vector<Candidate> ranking;
  ranking.reserve(given.size());
  for (const auto& strategy : given) ranking.push_back(price_one(strategy));
  if (searches) search_strategies(ranking, layout, std::ssize(pattern.edges), price_one);
  std::ranges::stable_sort(ranking, {}, [](const Candidate& c) { return c.cost.seconds; });
  return ranking;
}

}  // namespace commpass
