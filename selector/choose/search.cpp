#include "selector/choose/search.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

/// Half and twice as many rounds in flight; from all of them to half of them, and to all in the order of rounds. More
/// than seven eighths of the rounds become all of them, as the second batch would have few.
void add_windows(const Strategy& strategy, int most_rounds, std::vector<Strategy>& result) {
  constexpr int fewest = 4;
  const int rounds = strategy.window.unlimited() ? most_rounds : strategy.window.rounds;
  if (strategy.window.unlimited() && most_rounds >= fewest) {
    result.push_back(strategy);
    result.back().window = {most_rounds};
  }
  for (const int varied : {rounds / 2, 2 * rounds}) {
    if (varied < fewest || varied == rounds || (varied > rounds && strategy.window.unlimited())) continue;
    result.push_back(strategy);
    result.back().window = {varied < most_rounds - most_rounds / 8 ? varied : 0};
  }
}

/// With each flag of its route that it does not have, and that goes with the rest, or without its window.
void add_flags(const Strategy& strategy, std::vector<Strategy>& result) {
  const auto& row = catalogue_row(strategy.route);
  for (const auto& parameter : row.parameters) {
    if (parameter.kind != Parameter::Kind::flag || !strategy.values(parameter.name).empty()) continue;
    auto flagged = strategy;
    flagged.set(parameter.name, {1});
    if (!row.malformed(flagged).empty()) flagged.window = {};  // some go with no window
    if (row.malformed(flagged).empty()) result.push_back(std::move(flagged));
  }
}

/// Those that cost anything, the cheapest first.
std::vector<Candidate> by_cost(std::vector<Candidate> candidates, const Calls& calls) {
  std::erase_if(candidates, [](const Candidate& c) { return c.cost.seconds <= 0; });
  std::ranges::stable_sort(candidates, {}, [&](const Candidate& c) { return ranked_seconds(c, calls); });
  return candidates;
}

/// The first of each route.
std::vector<Strategy> first_of_each_route(std::span<const Candidate> candidates) {
  std::vector<Strategy> result;
  std::set<std::string> routes;
  for (const auto& candidate : candidates)
    if (routes.insert(candidate.strategy.route).second) result.push_back(candidate.strategy);
  return result;
}

/// The cheapest candidates that cost anything, each with a flag that it does not have: the cheapest of each route
/// first, then the `breadth` cheapest of all.
std::vector<Strategy> flagged(std::vector<Candidate> candidates, std::size_t breadth, const Calls& calls) {
  candidates = by_cost(std::move(candidates), calls);
  std::vector<Strategy> result;
  for (const auto& strategy : first_of_each_route(candidates)) add_flags(strategy, result);
  candidates.resize(std::min(candidates.size(), breadth));
  for (const auto& candidate : candidates) add_flags(candidate.strategy, result);
  return result;
}

/// The same with the other kind of messages.
Strategy with_other_messages(Strategy strategy) {
  strategy.coalescing = strategy.coalescing == Coalescing::coalesced ? Coalescing::staggered : Coalescing::coalesced;
  return strategy;
}

std::vector<Strategy> neighbours(const Strategy& strategy, const Layout& layout) {
  const auto& row = catalogue_row(strategy.route);
  auto result = row.vary ? row.vary(strategy, layout) : std::vector<Strategy>{};
  int most_rounds = 0;
  const auto route = make_route(strategy, layout);
  for (const auto& stage : route->stages()) most_rounds = std::max(most_rounds, stage.one_by_one ? 0 : stage.rounds);
  for (auto& varied : result) varied.path = strategy.path;
  add_windows(strategy, most_rounds, result);
  result.push_back(with_other_messages(strategy));
  std::erase_if(result, [&](const Strategy& s) {
    const auto& own = catalogue_row(s.route);
    return !own.malformed(s).empty() || !own.inapplicable(s, layout).empty();
  });
  return result;
}

/// What the search goes on from: the cheapest candidates, and behind them the cheapest of each route that is not far
/// from them. Cheap candidates are often of one route, and another one that is more expensive at its start may have
/// better cuts.
std::vector<std::size_t> starts(std::span<const Candidate> candidates, const Calls& calls, SearchFrom from) {
  constexpr double far = 2;
  const auto seconds = [&](std::size_t i) { return ranked_seconds(candidates[i], calls); };
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::pair(excess(candidates[i]), seconds(i)); });
  auto result = order;
  result.resize(std::min(order.size(), search_breadth));
  if (from == SearchFrom::cheapest) return result;
  std::set<std::string> routes;
  for (const auto i : order)
    if (seconds(i) <= far * seconds(order.front()) && routes.insert(candidates[i].strategy.route).second)
      result.push_back(i);
  return result;
}

/// The cheapest candidates whose data is staged by one process, each with as many as any candidate has: what that
/// brings hardly depends on the route.
std::vector<Strategy> with_more_copies(std::vector<Candidate> candidates, const Calls& calls) {
  std::set<int> copies;
  for (const auto& candidate : candidates) copies.insert(candidate.strategy.path.copies);
  if (copies.size() < 2) return {};
  std::erase_if(candidates, [](const Candidate& c) { return c.strategy.path != DataPath{DataPath::Kind::staged}; });
  std::ranges::stable_sort(candidates, {}, [&](const Candidate& c) { return ranked_seconds(c, calls); });
  candidates.resize(std::min(candidates.size(), search_breadth));
  std::vector<Strategy> result;
  for (const auto& candidate : candidates)
    for (const int other : copies) {
      result.push_back(candidate.strategy);
      result.back().path.copies = other;
    }
  return result;
}

/// The cheapest of each route with the other kind of messages, the cheapest first: which kind is cheaper depends on
/// the pattern more than on the route, and suggestions have few that are staggered.
std::vector<Strategy> with_other_messages(std::vector<Candidate> candidates, const Layout& layout, const Calls& calls) {
  std::vector<Strategy> result;
  for (const auto& strategy : first_of_each_route(by_cost(std::move(candidates), calls))) {
    auto other = with_other_messages(strategy);
    const auto& row = catalogue_row(other.route);
    if (row.malformed(other).empty() && row.inapplicable(other, layout).empty()) result.push_back(std::move(other));
  }
  return result;
}

/// Strategies that were not tried before.
class Untried {
 public:
  explicit Untried(std::span<const Candidate> candidates) {
    for (const auto& candidate : candidates) known_.insert(to_string(candidate.strategy));
  }

  /// Adds the candidates of those that are new, up to `most`.
  void try_all(const std::vector<Strategy>& strategies, std::size_t most, const Pricer& price,
               std::vector<Candidate>& candidates) {
    std::vector<Strategy> untried;
    for (const auto& strategy : strategies)
      if (candidates.size() + untried.size() < most && known_.insert(to_string(strategy)).second)
        untried.push_back(strategy);
    for (auto& candidate : price(untried)) candidates.push_back(std::move(candidate));
  }

 private:
  std::set<std::string> known_;
};

}  // namespace

std::int64_t most_tried(std::int64_t edges) {
  constexpr std::int64_t most = 128, most_edges = std::int64_t{1} << 22;
  return std::clamp(most_edges / std::max<std::int64_t>(1, edges), std::int64_t{1}, most);
}

void search_neighbours(std::vector<Candidate>& candidates, const Layout& layout, std::int64_t most, const Pricer& price,
                       const Calls& calls, SearchFrom from) {
  Untried untried(candidates);
  std::set<std::string> expanded;
  const auto copied_by_more = with_more_copies(candidates, calls);
  untried.try_all(copied_by_more, candidates.size() + copied_by_more.size(), price, candidates);
  const auto end = candidates.size() + static_cast<std::size_t>(most);
  untried.try_all(with_other_messages(candidates, layout, calls), end, price, candidates);
  while (candidates.size() < end) {
    const auto promising = starts(candidates, calls, from);
    const auto next = std::ranges::find_if(
        promising, [&](std::size_t i) { return !expanded.contains(to_string(candidates[i].strategy)); });
    if (next == promising.end() || candidates[*next].cost.seconds <= 0) break;
    const auto strategy = candidates[*next].strategy;
    expanded.insert(to_string(strategy));
    untried.try_all(neighbours(strategy, layout), end, price, candidates);
  }
}

void search_flags(std::vector<Candidate>& candidates, std::int64_t edges, const Pricer& price, const Calls& calls) {
  constexpr std::int64_t as_long_as = 16;  // other trials
  const auto most_flagged = std::min(search_breadth, static_cast<std::size_t>(most_tried(edges) / as_long_as));
  Untried(candidates)
      .try_all(flagged(candidates, search_breadth, calls), candidates.size() + most_flagged, price, candidates);
}

void search_strategies(std::vector<Candidate>& candidates, const Layout& layout, std::int64_t edges,
                       const Pricer& price, const Calls& calls, SearchFrom from) {
  search_neighbours(candidates, layout, most_tried(edges), price, calls, from);
  search_flags(candidates, edges, price, calls);
}

}  // namespace commpass
