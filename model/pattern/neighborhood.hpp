// A Cartesian neighbourhood: on a grid every rank has neighbours at the same offsets (Cartesian paper §2).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/pattern/grid.hpp"

namespace commpass {

/// Rank r sends block i to the rank at offset i from it, and receives block i from the rank at minus that offset.
/// Offsets may be repeated, all zero, larger than the grid, and different ones may lead to the same rank. Beyond the
/// edge of a dimension that is not periodic there is no rank.
struct Neighborhood {
  Grid grid;
  std::vector<int> offsets;  ///< one after another, each with a number for every dimension
  std::vector<int> weights;  ///< how much goes to each neighbour, in any unit; empty: as much to all
  bool operator==(const Neighborhood&) const = default;

  /// How many neighbours a rank has.
  int size() const { return static_cast<int>(offsets.size() / grid.dimensions()); }
  /// The offset of a neighbour, a number for each dimension.
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

/// All offsets with −radius … radius in each dimension but the zero one.
std::vector<int> box_offsets(std::size_t dimensions, int radius);
/// All offsets with `count` values from `first` up in each dimension (Cartesian paper §4.1.1), the zero one, too, if it
/// is among them.
std::vector<int> cube_offsets(std::size_t dimensions, int count, int first);
/// Those with one coordinate of −radius … radius, and all others 0.
std::vector<int> star_offsets(std::size_t dimensions, int radius);

}  // namespace commpass
