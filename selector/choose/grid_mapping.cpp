#include "selector/choose/grid_mapping.hpp"

#include <algorithm>
#include <cstdlib>

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

/// Calls `action` with all blocks of so many ranks whose sizes divide those of the grid.
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

}  // namespace

double weight_between_nodes(const Neighborhood& neighborhood, const Layout& layout) {
  double total = 0;
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    for (int i = 0; i < neighborhood.size(); ++i)
      if (const auto target = neighborhood.target(rank, i); target && layout.node(*target) != layout.node(rank))
        total += weight_of(neighborhood, i);
  return total;
}

std::optional<GridMapping> map_blocks_to_nodes(const Neighborhood& neighborhood, const Layout& layout) {
  const auto& grid = neighborhood.grid;
  if (layout.nodes() == 1 || layout.max_ppn() == 1 || !layout.even()) return std::nullopt;
  GridMapping mapping;
  std::vector<int> block;
  double least = 0;
  for_each_block(grid.dims, layout.max_ppn(), block, [&](const std::vector<int>& candidate) {
    const auto weight = weight_out_of(candidate, neighborhood);
    if (!mapping.blocks.empty() && weight >= least) return;
    mapping.blocks = candidate;
    least = weight;
  });
  if (mapping.blocks.empty()) return std::nullopt;
  // Node after node gets block after block, and in a block rank after rank its place.
  Grid of_blocks{{}, std::vector<bool>(grid.dimensions(), false)}, within{mapping.blocks, of_blocks.periodic};
  for (std::size_t k = 0; k < grid.dimensions(); ++k) of_blocks.dims.push_back(grid.dims[k] / mapping.blocks[k]);
  mapping.places.resize(static_cast<std::size_t>(layout.ranks()));
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto corner = of_blocks.coordinates(node);
    const auto ranks = layout.ranks_of(node);
    for (std::size_t local = 0; local < ranks.size(); ++local) {
      auto coordinates = within.coordinates(static_cast<Rank>(local));
      for (std::size_t k = 0; k < corner.size(); ++k) coordinates[k] += corner[k] * mapping.blocks[k];
      mapping.places[static_cast<std::size_t>(ranks[local])] = *grid.rank_at(coordinates);
    }
  }
  mapping.before = weight_between_nodes(neighborhood, layout);
  mapping.after = weight_between_nodes(neighborhood, moved(layout, mapping));
  if (mapping.after >= mapping.before) return std::nullopt;
  return mapping;
}

Layout moved(const Layout& layout, const GridMapping& mapping) {
  std::vector<int> nodes(mapping.places.size()), sockets(nodes.size());
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    const auto place = static_cast<std::size_t>(mapping.places[static_cast<std::size_t>(rank)]);
    nodes[place] = layout.node(rank);
    sockets[place] = layout.socket(rank);
  }
  return Layout(nodes, sockets);
}

}  // namespace commpass
