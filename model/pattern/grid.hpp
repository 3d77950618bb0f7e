// Ranks on a grid or torus of any number of dimensions, numbered as MPI_Cart_create numbers them: the last dimension
// varies fastest.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// A grid or torus of ranks.
struct Grid {
  std::vector<int> dims;       ///< sizes, each 1 or more
  std::vector<bool> periodic;  ///< by dimension: is the rank beyond the last one the first?
  bool operator==(const Grid&) const = default;

  /// How many there are.
  std::size_t dimensions() const { return dims.size(); }
  /// The product of the sizes.
  int ranks() const;
  /// How far the numbers of two ranks lie apart that are neighbours in a dimension.
  std::vector<int> weights() const;

  /// The place of a rank in each dimension.
  std::vector<int> coordinates(Rank rank) const;
  /// @return nothing for coordinates beyond the edge of a dimension that is not periodic
  std::optional<Rank> rank_at(std::span<const int> coordinates) const;
  /// The rank at `offset` from `rank`; nothing beyond an edge.
  std::optional<Rank> relative(Rank rank, std::span<const int> offset) const;
  /// The offset of the least absolute value from one rank to another; of two the positive one.
  std::vector<int> offset_between(Rank from, Rank to) const;
  /// The offset between two coordinates in one dimension.
  int offset_in(std::size_t dimension, int from, int to) const;

  /// @param place  for the error
  /// @throws InputError unless there are as many periods as sizes, all sizes are 1 or more, and their product is a
  /// number of ranks
  void validate(const std::string& place) const;
};

/// No grid has more ranks, so that the number of one is an int and sums of two are.
inline constexpr int most_grid_ranks = 1 << 28;

/// "8x8x4", "8x8x4, periodic in 1 and 3", "…, periodic": for people.
std::string describe(const Grid& grid);

/// The remainder in 0 … divisor − 1, also of negative numbers.
constexpr int modulo(int number, int divisor) {
  const int remainder = number % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

}  // namespace commpass
