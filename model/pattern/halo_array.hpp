// An array on a grid of ranks, with a halo.
#pragma once

#include <string>
#include <vector>

#include "model/pattern/grid.hpp"

namespace commpass {

/// The part of an array that one rank owns, with a halo around it: of each dimension `depth` cells before and after.
/// The last dimension lies one cell after the other in memory.
struct HaloArray {
  std::vector<int> extent;  ///< cells of the rank itself
  std::vector<int> depth;   ///< at most as many as cells; 0: no halo in this dimension
  Bytes cell_bytes = 0;

  /// Cells with halo.
  int size(std::size_t dimension) const { return extent[dimension] + 2 * depth[dimension]; }
  /// Bytes of the array.
  Bytes bytes() const;

  /// @throws InputError unless it has the dimensions of the grid, each with 1 cell or more and a depth that fits
  void validate(const Grid& grid, const std::string& place) const;
};

}  // namespace commpass
