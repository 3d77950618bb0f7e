// Which rank goes to which place of a grid, so that few bytes cross nodes.
#pragma once

#include <optional>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/neighborhood.hpp"

namespace commpass {

/// What all ranks together send to neighbours on other nodes, in the unit of the weights.
double weight_between_nodes(const Neighborhood& neighborhood, const Layout& layout);

/// A block of the grid for each node.
struct GridMapping {
  std::vector<Rank> places;      ///< by rank, its number on the grid
  std::vector<int> blocks;       ///< the sizes of a block
  double before = 0, after = 0;  ///< weight_between_nodes
};

/// The mapping with blocks by which the least goes between nodes, if that is less than without; it tries all sizes that
/// divide the grid. Nothing where nodes have different numbers of ranks, or no block has so many.
std::optional<GridMapping> map_blocks_to_nodes(const Neighborhood& neighborhood, const Layout& layout);

/// The layout of the ranks at their new places.
Layout moved(const Layout& layout, const GridMapping& mapping);

}  // namespace commpass
