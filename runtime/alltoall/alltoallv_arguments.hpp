// The arguments of MPI_Alltoallv, checked and as our exchanges take them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/alltoall/alltoall_blocks.hpp"
#include "runtime/alltoall/alltoall_space.hpp"
#include "runtime/alltoall/numbers.hpp"
#include "runtime/mpi/element_type.hpp"

namespace commpass {

enum class Side { send, receive };

/// The elements of one side of a call: for or from each rank their number, and the offset of the first.
struct BlocksArgument {
  std::vector<Bytes> counts, offsets;  ///< elements, by rank
  std::optional<ElementType> type;

  /// @param comm  ours
  /// @throws InputError if there is not one of each for every rank, a count is negative, or there is something to be
  /// sent or received and no buffer (for
  ///   derived types it may be MPI_BOTTOM); as ElementType
  void assign(Side side, MPI_Comm comm, const void* buffer, const Numbers& new_counts, const Numbers& new_offsets,
              MPI_Datatype new_type);
  /// The same count for all ranks, one after another. @throws as assign
  void assign_equal(Side side, MPI_Comm comm, const void* buffer, Bytes count, MPI_Datatype new_type);

  template <class Buffer>
  AlltoallBlocks<Buffer> blocks(Buffer buffer) const {
    return {buffer, counts, offsets, &*type, true};
  }
};

/// Both sides of a call. Kept from one call to the next, it takes no memory where no more is needed.
class AlltoallvArguments {
 public:
  BlocksArgument sends, receives;

  /// Takes what memory any number of calls needs for their numbers. @throws std::bad_alloc
  void make_room(int ranks);

  /// Sends the contents of the receive buffer: copies them out, if there is memory.
  /// @param space  in which it is kept. If it is a device's, the type has no gaps
  void send_in_place(MPI_Comm comm, const void* receive_buffer, AlltoallSpace& space);
  /// The copied blocks.
  AlltoallBlocks<const std::byte*> in_place() const {
    auto blocks = sends.blocks<const std::byte*>(copy_);
    blocks.is_there = is_copied_;
    return blocks;
  }

 private:
  const std::byte* copy_ = nullptr;
  std::vector<LocalCopy> copies_;  ///< that make it on a device
  bool is_copied_ = true;
};

}  // namespace commpass
