// What all ranks send to all in the form of MPI_Alltoallv: types, counts and displacements.
#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/random/element.hpp"
#include "runtime/random/image.hpp"
#include "runtime/random/place.hpp"

namespace commpass::random_test {

/// One rank's blocks in its send or its receive buffer.
struct AlltoallSide {
  Element element;
  std::vector<int> counts, displacements;  ///< in elements, by rank
  Bytes origin = 0;                        ///< of displacement 0 in the buffer
  Bytes buffer_bytes = 0;

  /// Calls `action` with the position of each byte of a block in the buffer, in order.
  template <class Action>
  void for_each_byte(Rank block, Action action) const {
    const auto b = static_cast<std::size_t>(block);
    for (Bytes i = 0; i < counts[b]; ++i)
      for (const auto offset : element.offsets) action(origin + (displacements[b] + i) * element.extent + offset);
  }
};

struct AlltoallProblem {
  bool equal = false, in_place = false;
  std::vector<AlltoallSide> sends, receives;  ///< by rank; in place both are the same

  /// @param equal_blocks    as MPI_Alltoall
  /// @param may_be_in_place  MPI_IN_PLACE
  AlltoallProblem(Draw& draw, const Place& place, bool equal_blocks, bool may_be_in_place);

  /// The expected contents of the receive buffer of `rank`, if `received` was there before and the buffer of each
  /// sender has its key.
  template <class KeyOf>
  Buffer expected(Rank rank, const Buffer& received, KeyOf key_of_sender) const {
    auto result = received;
    const auto& side = receives[static_cast<std::size_t>(rank)];
    for (Rank source = 0; source < static_cast<Rank>(sends.size()); ++source) {
      std::vector<Bytes> places;
      side.for_each_byte(source, [&](Bytes at) { places.push_back(at); });
      std::size_t next = 0;
      const auto source_key = key_of_sender(source);
      sends[static_cast<std::size_t>(source)].for_each_byte(
          rank, [&](Bytes from) { result[static_cast<std::size_t>(places.at(next++))] = byte_at(source_key, from); });
    }
    return result;
  }
};

}  // namespace commpass::random_test
