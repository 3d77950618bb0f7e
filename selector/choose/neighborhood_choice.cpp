#include "selector/choose/neighborhood_choice.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

NeighborhoodPricer::NeighborhoodPricer(const Neighborhood& neighborhood, NeighborBytes unit, const Layout& layout,
                                       const Machine& machine, CostModel model)
    : neighborhood_(neighborhood),
      unit_(std::move(unit)),
      layout_(layout.on(machine)),
      machine_(machine),
      model_(model) {
  require_parameters(layout, machine);
}

const NeighborhoodPricer::Sampled& NeighborhoodPricer::sampled(const Strategy& strategy) const {
  const auto known =
      std::ranges::find(sampled_, strategy, [](const Sampled& s) -> const Strategy& { return s.candidate.strategy; });
  if (known != sampled_.end()) return *known;
  require_price(strategy, machine_, model_);
  if (strategy.coalescing == Coalescing::staggered)
    throw NotApplicable(to_string(strategy), "staggered messages of a neighbourhood are priced by its edges alone");
  auto part = part_of_neighborhood(neighborhood_, strategy, unit_, layout_, machine_);
  Candidate candidate{strategy, {}};
  if (strategy.route == "standard" && has_few_edges(neighborhood_)) {  // whose rounds differ between ranks
    const auto whole = by_edges(std::span(&strategy, 1), 1).front();
    candidate.limited_window = whole.limited_window;
    candidate.demand = whole.demand;
  } else if (const auto window = window_within(machine_.limits, part.schedule, part.layout, strategy);
             window != strategy.window) {
    candidate.limited_window = window;
  }
  set_window(*part.route, part.schedule, as_run(candidate).window);
  if (!candidate.demand) candidate.demand = demand_of(part.schedule, part.layout);
  candidate.buffered_blocks_max = part.schedule.buffered_blocks_max;
  candidate.buffered_bytes_max = part.schedule.buffered_bytes_max;
  return sampled_.emplace_back(Sampled{std::move(candidate), sample_of(part)});
}

Candidate NeighborhoodPricer::price(const Strategy& strategy, Bytes times) const {
  auto [candidate, sample] = sampled(strategy);
  for (auto& bytes : sample.schedule.self_bytes) bytes *= times;
  for (auto& stage : sample.schedule.stages)
    for (auto& message : stage.messages) {
      message.bytes *= times;
      message.unpacked_bytes *= times;
    }
  candidate.cost = evaluate(sample, machine_, model_, Usage::planned, strategy.path);
  *candidate.buffered_bytes_max *= times;
  candidate.exceeded_limit = exceeded_limit(machine_.limits, *candidate.demand, candidate.buffered_bytes_max);
  return candidate;
}

std::vector<Candidate> NeighborhoodPricer::by_edges(std::span<const Strategy> strategies, Bytes times) const {
  auto sizes = unit_;
  for (auto& bytes : sizes.bytes) bytes *= times;
  const auto pattern = pattern_of(neighborhood_, sizes);
  constexpr unsigned threads = 1;  // ranks share the work
  return pattern_pricer(pattern, layout_, machine_, model_, {}, threads,
                        buffer_places(neighborhood_, sizes))(strategies);
}

std::vector<Candidate> NeighborhoodPricer::rank(std::span<const Strategy> strategies, Bytes times,
                                                std::span<const DataPath> paths) const {
  std::vector<Strategy> all{{"standard", {}, {}}};
  if (strategies.empty()) {
    for (auto& strategy : suggest_on_grid(neighborhood_, layout_)) all.push_back(std::move(strategy));
    all = on_paths(all, paths, machine_, model_);
    strategies = all;
  }
  std::vector<Candidate> ranking;
  for (const auto& strategy : strategies) ranking.push_back(price(strategy, times));
  return prefer_simplest_of_ties(std::move(ranking), machine_);
}

bool has_few_edges(const Neighborhood& neighborhood) {
  return std::int64_t{neighborhood.grid.ranks()} * neighborhood.size() <= most_neighborhood_edges;
}

bool can_be_told(const Strategy& strategy, const Layout& layout) {
  if (strategy.coalescing == Coalescing::staggered) return false;
  const auto route = make_route(strategy, layout);
  return !route->cuts() && !is_run_by_library(*route);
}

std::vector<Strategy> promising_others(std::span<const Candidate> ranking, const Neighborhood& neighborhood,
                                       const Layout& layout) {
  constexpr std::size_t most = 3;
  const auto suggested = suggest_on_grid(neighborhood, layout);
  std::vector<Strategy> others;
  for (const auto& candidate : ranking) {
    const auto& strategy = candidate.strategy;
    const bool is_of_grid =
        strategy == Strategy{"standard", {}, {}} || std::ranges::find(suggested, strategy) != suggested.end();
    if (is_of_grid || others.size() == most) break;
    if (is_way_on_grid(strategy) || can_be_told(strategy, layout)) others.push_back(strategy);
  }
  return others;
}

namespace {

struct Priced {
  Bytes times;
  Candidate best;
};

/// Compares strategies for one neighbourhood: ways on the grid by the sample of a node, with others by their edges.
class Judge {
 public:
  Judge(const NeighborhoodPricer& pricer, std::span<const Strategy> others, std::span<const DataPath> paths)
      : pricer_(pricer), others_(others), paths_(paths) {}

  Priced best_of(Bytes times) const {
    auto best = pricer_.rank({}, times, paths_).front();
    if (others_.empty()) return {times, std::move(best)};
    std::vector<Strategy> strategies(others_.begin(), others_.end());
    strategies.push_back(best.strategy);
    auto candidates = pricer_.by_edges(strategies, times);
    const auto cheapest = std::ranges::min_element(candidates.begin(), candidates.end() - 1, {},
                                                   [&](const Candidate& candidate) { return weighed(candidate); });
    if (weighed(*cheapest) < weighed(candidates.back())) best = std::move(*cheapest);
    return {times, std::move(best)};
  }

  Candidate price(const Strategy& strategy, Bytes times) const {
    return is_other(strategy) ? pricer_.by_edges(std::span(&strategy, 1), times).front()
                              : pricer_.price(strategy, times);
  }

  /// Is `after` the better one from this size on?
  bool prefers(const Strategy& after, const Strategy& before, Bytes times) const {
    if (!is_other(after) && !is_other(before))
      return weighed(pricer_.price(after, times)) <= weighed(pricer_.price(before, times));
    const std::array both{after, before};
    const auto candidates = pricer_.by_edges(both, times);
    return weighed(candidates[0]) <= weighed(candidates[1]);
  }

 private:
  static constexpr double telling_worth_ratio = 0.98;  ///< ranks plan ways on the grid alone, and are told others
  /// Limits come before prices.
  std::pair<int, Seconds> weighed(const Candidate& candidate) const {
    return {excess(candidate), candidate.cost.seconds * (is_other(candidate.strategy) ? 1 : telling_worth_ratio)};
  }
  bool is_other(const Strategy& strategy) const { return std::ranges::find(others_, strategy) != others_.end(); }

  const NeighborhoodPricer& pricer_;
  std::span<const Strategy> others_;
  std::span<const DataPath> paths_;
};

/// The first size from which on `after` is not more expensive, between one at which it is and one at which it is not.
Bytes crossing(const Judge& judge, const Strategy& before, const Strategy& after, Bytes low, Bytes high) {
  constexpr Bytes parts = 50;  // 2 %
  while (high - low > std::max<Bytes>(1, low / parts)) {
    const auto middle = low + (high - low) / 2;
    (judge.prefers(after, before, middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::vector<NeighborhoodClass> choose_by_size(const NeighborhoodPricer& pricer, std::span<const Strategy> others,
                                              std::span<const DataPath> paths) {
  constexpr Bytes factor = 4, largest = Bytes{1} << 24;
  const Judge judge(pricer, others, paths);
  std::vector<NeighborhoodClass> classes;
  std::optional<Priced> before;
  for (Bytes times = 1; times <= largest; times *= factor) {
    auto priced = judge.best_of(times);
    if (!before) classes.push_back({0, as_run(priced.best), priced.best.cost.seconds});
    else if (before->best.strategy != priced.best.strategy) {
      const auto from = crossing(judge, before->best.strategy, priced.best.strategy, before->times, times);
      classes.push_back({from, as_run(priced.best), judge.price(priced.best.strategy, from).cost.seconds});
    }
    before = std::move(priced);
  }
  return classes;
}

}  // namespace commpass
