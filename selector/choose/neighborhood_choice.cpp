#include "selector/choose/neighborhood_choice.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/told_apart.hpp"

namespace commpass {

NeighborhoodPricer::NeighborhoodPricer(const Neighborhood& neighborhood, NeighborBytes unit, const Layout& layout,
                                       const Machine& machine, CostModel model)
    : neighborhood_(neighborhood), unit_(std::move(unit)), layout_(layout), machine_(machine), model_(model) {
  require_parameters(layout, machine);
}

const NeighborhoodSchedule& NeighborhoodPricer::schedule_of(const Strategy& strategy) const {
  if (strategy.coalescing == Coalescing::staggered)
    throw NotApplicable(to_string(strategy), "staggered messages have no closed form");
  auto way = grid_way(strategy, neighborhood_.grid);
  const auto known = std::ranges::find(schedules_, way, [](const auto& pair) -> const GridWay& { return pair.first; });
  if (known != schedules_.end()) return known->second;
  NeighborhoodSchedule schedule(neighborhood_, way, unit_, layout_);
  return schedules_.emplace_back(std::move(way), std::move(schedule)).second;
}

Candidate NeighborhoodPricer::price(const Strategy& strategy, Bytes times) const {
  const auto& schedule = schedule_of(strategy);
  return {strategy, schedule.evaluate(times, strategy.window, machine_, model_)};
}

std::vector<Candidate> NeighborhoodPricer::rank(std::span<const Strategy> strategies, Bytes times) const {
  std::vector<Strategy> all{{"standard", {}, {}}};
  if (strategies.empty()) {
    for (auto& strategy : suggest_on_grid(neighborhood_, layout_)) all.push_back(std::move(strategy));
    strategies = all;
  }
  std::vector<Candidate> ranking;
  for (const auto& strategy : strategies) ranking.push_back(price(strategy, times));
  constexpr double rounding = 1e-9;  // differences below are no reason
  std::ranges::stable_sort(
      ranking, [](const Candidate& a, const Candidate& b) { return a.cost.seconds < b.cost.seconds * (1 - rounding); });
  return prefer_simple(std::move(ranking), machine_);
}

namespace {

struct Priced {
  Bytes times;
  Candidate best;
};

Priced best_of(const NeighborhoodPricer& pricer, std::span<const Strategy> strategies, Bytes times) {
  return {times, pricer.rank(strategies, times).front()};
}

/// The first size from which on `after` is no dearer, between one at which it is and one at which it is not.
Bytes crossing(const NeighborhoodPricer& pricer, const Strategy& before, const Strategy& after, Bytes low, Bytes high) {
  constexpr Bytes parts = 50;  // 2 %
  while (high - low > std::max<Bytes>(1, low / parts)) {
    const auto middle = low + (high - low) / 2;
    const bool is_after = pricer.price(after, middle).cost.seconds <= pricer.price(before, middle).cost.seconds;
    (is_after ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::vector<NeighborhoodClass> choose_by_size(const NeighborhoodPricer& pricer) {
  constexpr Bytes factor = 4, largest = Bytes{1} << 24;
  std::vector<NeighborhoodClass> classes;
  std::optional<Priced> before;
  for (Bytes times = 1; times <= largest; times *= factor) {
    auto priced = best_of(pricer, {}, times);
    if (!before) classes.push_back({0, priced.best.strategy, priced.best.cost.seconds});
    else if (before->best.strategy != priced.best.strategy) {
      const auto from = crossing(pricer, before->best.strategy, priced.best.strategy, before->times, times);
      classes.push_back({from, priced.best.strategy, pricer.price(priced.best.strategy, from).cost.seconds});
    }
    before = std::move(priced);
  }
  return classes;
}

const NeighborhoodClass& class_of(std::span<const NeighborhoodClass> classes, double bytes) {
  auto found = classes.begin();
  while (std::next(found) != classes.end() && static_cast<double>(std::next(found)->from_bytes) <= bytes) ++found;
  return *found;
}

}  // namespace commpass
