#include "selector/choose/grid_mapping.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "model/base/format.hpp"

namespace commpass {

namespace {

double weight_of(const Neighborhood& neighborhood, int neighbor) {
  return neighborhood.weights.empty() ? 1 : neighborhood.weights[static_cast<std::size_t>(neighbor)];
}

/// What the ranks of a block send out of it, if the grid is large.
double weight_out_of(const std::vector<int>& block, const Neighborhood& neighborhood) {
  double total = 0;
  for (int i = 0; i < neighborhood.size(); ++i) {
    const auto offset = neighborhood.offset(i);
    double all = 1, inside = 1;
    for (std::size_t k = 0; k < block.size(); ++k) {
      const int size = neighborhood.grid.dims[k];
      const int step = neighborhood.grid.periodic[k] ? modulo(offset[k], size) : std::clamp(offset[k], -size, size);
      all *= block[k];
      // Around a torus a rank of the block may be reached from the other side.
      int stay = std::max(0, block[k] - std::abs(step));
      if (neighborhood.grid.periodic[k]) stay += std::max(0, block[k] - (size - step)) * (step > 0);
      inside *= stay;
    }
    total += weight_of(neighborhood, i) * (all - inside);
  }
  return total;
}

/// Calls `action` with all blocks of `ranks` ranks whose sizes divide those of the grid.
template <class Action>
void for_each_block(const std::vector<int>& dims, int ranks, std::vector<int>& block, const Action& action) {
  const auto k = block.size();
  if (k == dims.size()) {
    if (ranks == 1) action(block);
    return;
  }
  for (int size = 1; size <= std::min(dims[k], ranks); ++size) {
    if (dims[k] % size != 0 || ranks % size != 0) continue;
    block.push_back(size);
    for_each_block(dims, ranks / size, block, action);
    block.pop_back();
  }
}

/// Of all blocks of `ranks` ranks that divide `dims` the one out of which the least is sent; nothing if there is none.
std::optional<std::vector<int>> best_block(const Neighborhood& neighborhood, const std::vector<int>& dims, int ranks) {
  std::optional<std::vector<int>> best;
  std::vector<int> block;
  double least = 0;
  for_each_block(dims, ranks, block, [&](const std::vector<int>& candidate) {
    const auto weight = weight_out_of(candidate, neighborhood);
    if (best && weight >= least) return;
    best = candidate;
    least = weight;
  });
  return best;
}

/// How many sockets every node has, each with as many ranks; 1 where they differ.
int sockets_of_nodes(const Layout& layout) {
  const int sockets = layout.sockets() / layout.nodes();
  std::vector<int> ranks(static_cast<std::size_t>(layout.sockets()), 0);
  for (Rank rank = 0; rank < layout.ranks(); ++rank) ++ranks[static_cast<std::size_t>(layout.socket(rank))];
  const bool are_even =
      layout.sockets() == sockets * layout.nodes() && std::ranges::count(ranks, ranks.front()) == std::ssize(ranks);
  return are_even && sockets * ranks.front() == layout.max_ppn() ? sockets : 1;
}

/// A grid of blocks of these sizes. The ranks of one after the other are numbered from 0 up.
class BlockGrid {
 public:
  BlockGrid(const std::vector<int>& dims, const std::vector<int>& sizes)
      : sizes_(sizes), of_blocks_{{}, std::vector<bool>(dims.size(), false)}, within_{sizes, of_blocks_.periodic} {
    for (std::size_t k = 0; k < dims.size(); ++k) of_blocks_.dims.push_back(dims[k] / sizes[k]);
  }

  int ranks() const { return within_.ranks(); }
  /// @param inner  the coordinates in the block
  std::vector<int> coordinates(int block, std::vector<int> inner) const {
    const auto corner = of_blocks_.coordinates(block);
    for (std::size_t k = 0; k < inner.size(); ++k) inner[k] += corner[k] * sizes_[k];
    return inner;
  }
  std::vector<int> within(int number) const { return within_.coordinates(number); }

 private:
  std::vector<int> sizes_;
  Grid of_blocks_, within_;
};

/// Node after node gets block after block, of that socket after socket, and in a block rank after rank its place.
std::vector<Rank> places_of(const Grid& grid, const Layout& layout, const GridMapping& mapping) {
  const BlockGrid of_nodes(grid.dims, mapping.blocks), of_sockets(mapping.blocks, mapping.socket_blocks);
  std::vector<Rank> places(static_cast<std::size_t>(layout.ranks()));
  for (int node = 0; node < layout.nodes(); ++node) {
    std::vector<Rank> ranks(layout.ranks_of(node).begin(), layout.ranks_of(node).end());
    std::ranges::stable_sort(ranks, {}, [&](Rank rank) { return layout.socket(rank); });
    for (int local = 0; local < static_cast<int>(ranks.size()); ++local) {
      const auto in_node =
          of_sockets.coordinates(local / of_sockets.ranks(), of_sockets.within(local % of_sockets.ranks()));
      places[static_cast<std::size_t>(ranks[static_cast<std::size_t>(local)])] =
          *grid.rank_at(of_nodes.coordinates(node, in_node));
    }
  }
  return places;
}

}  // namespace

double weight_between(const Neighborhood& neighborhood, const Layout& layout, bool between_nodes) {
  const auto counts = [&](Level level) {
    return between_nodes ? level > layout.node_level() : level == layout.node_level();
  };
  double total = 0;
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    for (int i = 0; i < neighborhood.size(); ++i)
      if (const auto target = neighborhood.target(rank, i);
          target && *target != rank && counts(layout.level(rank, *target)))
        total += weight_of(neighborhood, i);
  return total;
}

std::optional<GridMapping> map_blocks_to_nodes(const Neighborhood& neighborhood, const Layout& layout) {
  const auto& grid = neighborhood.grid;
  if (layout.sockets() == 1 || layout.sockets() == layout.ranks() || !layout.even()) return std::nullopt;
  const auto blocks = best_block(neighborhood, grid.dims, layout.max_ppn());
  if (!blocks) return std::nullopt;
  GridMapping mapping;
  mapping.blocks = *blocks;
  mapping.socket_blocks =
      best_block(neighborhood, *blocks, layout.max_ppn() / sockets_of_nodes(layout)).value_or(*blocks);
  mapping.places = places_of(grid, layout, mapping);
  const auto after = moved(layout, mapping);
  mapping.before = weight_between(neighborhood, layout, true);
  mapping.after = weight_between(neighborhood, after, true);
  mapping.sockets_before = weight_between(neighborhood, layout, false);
  mapping.sockets_after = weight_between(neighborhood, after, false);
  const bool is_better = mapping.after < mapping.before ||
                         (mapping.after == mapping.before && mapping.sockets_after < mapping.sockets_before);
  return is_better ? std::optional(mapping) : std::nullopt;
}

std::string describe(const GridMapping& mapping) {
  auto text = fmt::format("each node has a block of {} of the grid, and {:.4g} in place of {:.4g} go to other nodes",
                          join(mapping.blocks, "x"), mapping.after, mapping.before);
  if (mapping.sockets_before > 0 || mapping.sockets_after > 0)
    text += fmt::format("; each socket has one of {}, and {:.4g} in place of {:.4g} go to other sockets of a node",
                        join(mapping.socket_blocks, "x"), mapping.sockets_after, mapping.sockets_before);
  return text;
}

Layout moved(const Layout& layout, const GridMapping& mapping) {
  std::vector<Rank> rank_at(mapping.places.size());
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    rank_at[static_cast<std::size_t>(mapping.places[static_cast<std::size_t>(rank)])] = rank;
  return layout_of_ranks(layout, rank_at);
}

}  // namespace commpass
