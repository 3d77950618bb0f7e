// Halos of arrays on a grid of ranks: which cells go to which neighbour, so that corners move with the faces.
#pragma once

#include <vector>

#include "model/pattern/halo_array.hpp"

namespace commpass {

/// Cells begin … end − 1 in each dimension, counted from the first cell of the halo.
struct HaloRegion {
  std::vector<int> begin, end;

  Bytes bytes(const HaloArray& array) const;
  /// Calls action(offset, bytes) for each piece of the array that lies in one place.
  template <class Action>
  void for_each_piece(const HaloArray& array, Action action) const;
};

/// The message of a rank to the rank in one direction, and the one from the opposite direction with it.
struct HaloMessage {
  std::vector<int> direction;  ///< −1, 0 or 1 in each dimension
  HaloRegion sent, received;
};

/// The messages of one stage. Directions are those in the dimensions of the stage; a message there includes the halo
/// of those of earlier stages, so that corners need no messages of their own. With a stage for each dimension there are
/// 2d messages, with one for all 3^d − 1. Halos beyond an edge of the grid are left alone.
/// @param stages  by dimension, from 0 up
/// @return also messages whose peer is beyond an edge
std::vector<HaloMessage> halo_messages(const Grid& grid, Rank rank, const HaloArray& array,
                                       const std::vector<int>& stages, int stage);

template <class Action>
void HaloRegion::for_each_piece(const HaloArray& array, Action action) const {
  const auto d = begin.size();
  for (std::size_t k = 0; k < d; ++k)
    if (begin[k] >= end[k]) return;
  // Dimensions behind `split` are there in full, so that a row of it is one piece.
  std::size_t split = d - 1;
  while (split > 0 && begin[split] == 0 && end[split] == array.size(split)) --split;
  Bytes row = array.cell_bytes;
  for (std::size_t k = d; k-- > split + 1;) row *= array.size(k);
  std::vector<int> at = begin;
  while (true) {
    Bytes cell = 0;
    for (std::size_t k = 0; k <= split; ++k) cell = cell * array.size(k) + at[k];
    action(cell * row, row * (end[split] - begin[split]));
    std::size_t k = split;
    while (k > 0 && ++at[k - 1] == end[k - 1]) {
      at[k - 1] = begin[k - 1];
      --k;
    }
    if (k == 0) return;
  }
}

}  // namespace commpass
