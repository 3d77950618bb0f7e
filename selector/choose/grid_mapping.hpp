// Which rank goes to which place of a grid, so that few bytes cross nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/neighborhood.hpp"

namespace commpass {

/// What all ranks together send to neighbours on other nodes, or within nodes, but across the instances of the level
/// below, in the unit of the weights.
double weight_between(const Neighborhood& neighborhood, const Layout& layout, bool between_nodes);

/// A block of the grid for each node, and of that one for each of its sockets.
struct GridMapping {
  std::vector<Rank> places;        ///< by rank, its number on the grid
  std::vector<int> blocks;         ///< the sizes of a node's block
  std::vector<int> socket_blocks;  ///< and of a socket's; the same where nodes have one socket, or uneven ones
  double before = 0, after = 0;    ///< between nodes: weight_between
  double sockets_before = 0, sockets_after = 0;  ///< between sockets of a node
};

/// The mapping with blocks by which the least goes between nodes, and then between sockets, if that is less than
/// without; it tries all sizes that divide the grid. Nothing where nodes have different numbers of ranks, or no block
/// has that number.
std::optional<GridMapping> map_blocks_to_nodes(const Neighborhood& neighborhood, const Layout& layout);

/// What it brings, a sentence for people.
std::string describe(const GridMapping& mapping);

/// The layout of the ranks at their new places.
Layout moved(const Layout& layout, const GridMapping& mapping);

}  // namespace commpass
