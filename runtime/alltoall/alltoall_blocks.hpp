// Blocks of one rank in a user's buffer.
#pragma once

#include <span>

#include "runtime/mpi/element_type.hpp"

namespace commpass {

/// The elements for or from each rank: their number, and the offset of the first.
template <class Buffer>
struct AlltoallBlocks {
  Buffer buffer = nullptr;
  std::span<const Bytes> counts;   ///< elements, by rank
  std::span<const Bytes> offsets;  ///< elements, by rank
  const ElementType* type = nullptr;
  bool is_there = true;  ///< false: only the sizes of the sent blocks are known, for there was no memory for the rest

  Bytes count(Rank rank) const { return counts[static_cast<std::size_t>(rank)]; }
  Bytes bytes(Rank rank) const { return count(rank) * type->size(); }
  /// Where nothing is, the offset says nothing.
  Buffer at(Rank rank) const {
    return bytes(rank) == 0 || !is_there ? buffer : buffer + offsets[static_cast<std::size_t>(rank)] * type->extent();
  }
};

}  // namespace commpass
