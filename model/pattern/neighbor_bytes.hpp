// The bytes that the neighbours of a Cartesian neighbourhood get, and their pattern.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/pattern/neighborhood.hpp"

namespace commpass {

struct BufferPlaces;
struct Pattern;

/// What each neighbour gets.
struct NeighborBytes {
  std::vector<Bytes> bytes;  ///< by neighbour
  bool is_same = false;      ///< all get the same bytes, as in an allgather

  /// `bytes` for each.
  static NeighborBytes equal(const Neighborhood& neighborhood, Bytes bytes, bool is_same) {
    return {std::vector<Bytes>(static_cast<std::size_t>(neighborhood.size()), bytes), is_same};
  }
};

/// For each neighbour the number of those before it that lead to the same rank, wherever they start, and get something.
std::vector<std::int32_t> indices_of(const Neighborhood& neighborhood, std::span<const Bytes> bytes);

/// The bytes between ranks.
/// @throws InputError for more than most_pattern_edges
Pattern pattern_of(const Neighborhood& neighborhood, const NeighborBytes& sizes);

/// Of the edges of pattern_of: buffers hold the blocks in the order of neighbours, and one that all get once.
BufferPlaces buffer_places(const Neighborhood& neighborhood, const NeighborBytes& sizes);

/// What "cartesian:…" asks for, without making its edges.
struct CartesianPattern {
  Neighborhood neighborhood;
  NeighborBytes sizes;
};

}  // namespace commpass
