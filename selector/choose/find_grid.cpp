#include "selector/choose/find_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include "model/pattern/neighborhood_counts.hpp"
#include "model/pattern/node_traffic.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

namespace {

/// Whom each rank sends to, in no order but those of the busiest, which ascend; itself and those that get nothing are
/// left out.
class Destinations {
 public:
  explicit Destinations(const Pattern& pattern) : ends_(static_cast<std::size_t>(pattern.ranks) + 1) {
    const auto moves = [](const Edge& edge) { return edge.bytes > 0 && edge.source != edge.destination; };
    for (const auto& edge : pattern.edges)
      if (moves(edge)) ++ends_[static_cast<std::size_t>(edge.source) + 1];
    for (std::size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    all_.resize(ends_.back());
    auto next = ends_;
    for (const auto& edge : pattern.edges)
      if (moves(edge)) all_[next[static_cast<std::size_t>(edge.source)]++] = edge.destination;
    for (Rank rank = 0; rank < ranks(); ++rank)
      if (of(rank).size() > of(busiest_).size()) busiest_ = rank;
    const auto own = begin_end(busiest_);  // by which grids are found; the others are rarely looked at
    std::sort(all_.begin() + own.first, all_.begin() + own.second);
  }

  int ranks() const { return static_cast<int>(ends_.size()) - 1; }
  /// The first of those that send to the most.
  Rank busiest() const { return busiest_; }
  std::span<const Rank> of(Rank rank) const {
    const auto own = begin_end(rank);
    return std::span(all_).subspan(static_cast<std::size_t>(own.first),
                                   static_cast<std::size_t>(own.second - own.first));
  }

 private:
  std::pair<std::ptrdiff_t, std::ptrdiff_t> begin_end(Rank rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {static_cast<std::ptrdiff_t>(ends_[r]), static_cast<std::ptrdiff_t>(ends_[r + 1])};
  }

  std::vector<std::size_t> ends_;
  std::vector<Rank> all_;
  Rank busiest_ = 0;
};

/// The offset from one rank to another, by these dimensions, as one number, which no other offset has.
std::int64_t offset_number(const Grid& grid, Rank from, Rank to) {
  std::int64_t number = 0;
  for (std::size_t k = grid.dims.size(); k-- > 0; from /= grid.dims[k], to /= grid.dims[k])
    number = number * 2 * grid.dims[k] + grid.offset_in(k, from % grid.dims[k], to % grid.dims[k]) + grid.dims[k];
  return number;
}

/// Have some ranks only offsets that the busiest one has? Most grids are refused by the first.
/// @param grid  of all ranks, or its first dimensions: grids refused by these are so with any others behind them
bool may_be_alike(const Grid& grid, const Destinations& destinations) {
  int behind = destinations.ranks();  // ranks with the same coordinates
  for (const int size : grid.dims) behind /= size;
  const auto offset = [&](Rank from, Rank to) { return offset_number(grid, from / behind, to / behind); };
  std::vector<std::int64_t> known;
  for (const Rank to : destinations.of(destinations.busiest())) known.push_back(offset(destinations.busiest(), to));
  for (const Rank rank : {0, destinations.ranks() / 3, destinations.ranks() - 1})
    for (const Rank to : destinations.of(rank))
      if (std::ranges::find(known, offset(rank, to)) == known.end()) return false;
  return true;
}

/// The offsets of the rank that sends to the most others, which a central rank does; nothing if others have more.
std::optional<Neighborhood> offsets_of_all(const Grid& grid, const Destinations& destinations) {
  if (!may_be_alike(grid, destinations)) return std::nullopt;
  Neighborhood neighborhood{grid, {}, {}};
  for (const Rank to : destinations.of(destinations.busiest())) {
    const auto offset = grid.offset_between(destinations.busiest(), to);
    neighborhood.offsets.insert(neighborhood.offsets.end(), offset.begin(), offset.end());
  }
  return neighborhood;
}

std::optional<Neighborhood> neighborhood_on(const Grid& grid, const Destinations& destinations) {
  auto neighborhood = offsets_of_all(grid, destinations);
  if (!neighborhood) return std::nullopt;
  std::vector<Rank> expected, found;
  for (Rank rank = 0; rank < destinations.ranks(); ++rank) {
    expected.clear();
    for (int i = 0; i < neighborhood->size(); ++i)
      if (const auto target = neighborhood->target(rank, i)) expected.push_back(*target);
    found.assign(destinations.of(rank).begin(), destinations.of(rank).end());
    std::ranges::sort(expected);
    std::ranges::sort(found);
    if (expected != found) return std::nullopt;
  }
  return neighborhood;
}

/// Calls `action` with all grids of `ranks` ranks with `dimensions` further dimensions of sizes 2 and more; those of
/// 2 are periodic.
/// @param may_go_on  is asked about the first dimensions of grids; none is made of those that it refuses
template <class MayGoOn, class Action>
void for_each_grid(int ranks, int dimensions, Grid& grid, const MayGoOn& may_go_on, const Action& action) {
  if (dimensions == 0) {
    if (ranks == 1) action(grid);
    return;
  }
  for (int size = 2; size <= ranks; ++size) {
    if (ranks % size != 0) continue;
    grid.dims.push_back(size);
    for (const bool is_periodic : {true, false}) {
      if (!is_periodic && size == 2) continue;
      grid.periodic.push_back(is_periodic);
      if (may_go_on(grid)) for_each_grid(ranks / size, dimensions - 1, grid, may_go_on, action);
      grid.periodic.pop_back();
    }
    grid.dims.pop_back();
  }
}

}  // namespace

std::optional<Neighborhood> neighborhood_on(const Grid& grid, const Pattern& pattern) {
  return neighborhood_on(grid, Destinations(pattern));
}

std::optional<Neighborhood> find_neighborhood(const Pattern& pattern, const std::optional<Grid>& known) {
  constexpr int most_dimensions = 5;
  constexpr int most_looked_at = 20000;  // of numbers of ranks with very many divisors not all
  const Destinations destinations(pattern);
  if (std::ssize(destinations.of(destinations.busiest())) >= pattern.ranks - 1) return std::nullopt;
  std::optional<Neighborhood> best;
  auto fewest = static_cast<int>(destinations.of(destinations.busiest()).size());  // messages without combining
  const auto try_grid = [&](const Grid& grid) {
    auto found = neighborhood_on(grid, destinations);
    if (!found) return;
    const int rounds = combining_counts(*found).rounds;
    if (rounds >= fewest) return;
    fewest = rounds;
    best = std::move(found);
  };
  if (known) try_grid(*known);
  if (best) return best;
  Grid grid;
  int left = most_looked_at;
  const auto may_go_on = [&](const Grid& first) { return left-- > 0 && may_be_alike(first, destinations); };
  for (int dimensions = 1; dimensions <= most_dimensions; ++dimensions)  // of like ones that with the fewest
    for_each_grid(pattern.ranks, dimensions, grid, may_go_on, try_grid);
  return best;
}

std::vector<Strategy> offered_on_grid(const Neighborhood& neighborhood, const Layout& layout, const Machine& machine,
                                      CostModel model, std::span<const DataPath> paths) {
  auto strategies = on_paths(suggest_on_grid(neighborhood, layout), paths, machine, model);
  std::erase_if(strategies, [&](const Strategy& strategy) {
    return strategy.path.copies > 1 || !lacking(strategy, machine, model).empty();
  });
  return strategies;
}

namespace {

/// split by the bytes from one node to another on average: in two chunks, and in as many as a node has ranks, or half.
std::vector<Strategy> splits_of(const Pattern& pattern, const Layout& layout) {
  if (layout.nodes() == 1 || layout.max_ppn() == 1) return {};
  const auto traffic = node_traffic(pattern, layout);
  std::int64_t pairs = 0;  // of nodes of which the first sends to the second
  double bytes = 0;
  std::vector<int> last_sender(static_cast<std::size_t>(layout.nodes()), -1);
  for (int node = 0; node < layout.nodes(); ++node)
    for (const Rank rank : layout.ranks_of(node))
      for (auto entry = std::ranges::lower_bound(traffic.entries, rank, {}, &NodeTraffic::Entry::source);
           entry != traffic.entries.end() && entry->source == rank; ++entry) {
        pairs += std::exchange(last_sender[static_cast<std::size_t>(entry->node)], node) != node ? 1 : 0;
        bytes += static_cast<double>(entry->bytes);
      }
  std::vector<Strategy> strategies;
  std::set<std::int64_t> caps;
  for (const double chunks : {2.0, layout.max_ppn() / 2.0, static_cast<double>(layout.max_ppn())})
    if (pairs > 0) caps.insert(std::llround(std::ceil(bytes / static_cast<double>(pairs) / chunks)));
  for (const auto cap : caps)
    if (cap > 0) strategies.push_back({"split", {{"cap", {cap}}}, {}});
  return strategies;
}

}  // namespace

std::vector<Strategy> strategies_for(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                     CostModel model, const std::optional<Grid>& known,
                                     std::span<const DataPath> paths) {
  auto strategies = offered_strategies(layout, machine, model, Usage::planned, paths);
  for (auto& strategy : on_paths(splits_of(pattern, layout), paths, machine, model))
    if (lacking(strategy, machine, model).empty() && std::ranges::find(strategies, strategy) == strategies.end())
      strategies.push_back(std::move(strategy));
  if (const auto neighborhood = find_neighborhood(pattern, known))
    for (auto& strategy : offered_on_grid(*neighborhood, layout, machine, model, paths))
      strategies.push_back(std::move(strategy));
  return strategies;
}

}  // namespace commpass
