// A Cartesian neighbourhood: on a grid every rank has neighbours at the same offsets (Cartesian paper §2).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/pattern/grid.hpp"

namespace commpass {

struct BufferPlaces;
struct Pattern;

/// Rank r sends block i to the rank at offset i from it, and receives block i from the rank at minus that offset.
/// Offsets may be repeated, all zero, larger than the grid, and different ones may lead to the same rank. Beyond the
/// edge of a dimension that is not periodic there is no rank.
struct Neighborhood {
  Grid grid;
  std::vector<int> offsets;  ///< one after another, each with a number for every dimension
  std::vector<int> weights;  ///< how much goes to each neighbour, in any unit; empty: as much to all
  bool operator==(const Neighborhood&) const = default;

  int size() const { return static_cast<int>(offsets.size() / grid.dimensions()); }
  std::span<const int> offset(int neighbor) const {
    const auto d = grid.dimensions();
    return std::span(offsets).subspan(static_cast<std::size_t>(neighbor) * d, d);
  }

  /// The target and the source of block `neighbor` of a rank; nothing: beyond an edge.
  std::optional<Rank> target(Rank rank, int neighbor) const { return grid.relative(rank, offset(neighbor)); }
  std::optional<Rank> source(Rank rank, int neighbor) const;

  /// @throws InputError for a bad grid, offsets that are not whole, and weights that are negative or not as many
  void validate(const std::string& place) const;
};

/// What each neighbour gets.
struct NeighborBytes {
  std::vector<Bytes> bytes;  ///< by neighbour
  bool is_same = false;      ///< all get the same bytes, as in an allgather

  /// `bytes` for each.
  static NeighborBytes equal(const Neighborhood& neighborhood, Bytes bytes, bool is_same) {
    return {std::vector<Bytes>(static_cast<std::size_t>(neighborhood.size()), bytes), is_same};
  }
};

/// All offsets with −radius … radius in each dimension but the zero one.
std::vector<int> box_offsets(std::size_t dimensions, int radius);
/// All offsets with `count` values from `first` up in each dimension (Cartesian paper §4.1.1), the zero one, too, if it
/// is among them.
std::vector<int> cube_offsets(std::size_t dimensions, int count, int first);
/// Those with one coordinate of −radius … radius, and all others 0.
std::vector<int> star_offsets(std::size_t dimensions, int radius);

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
