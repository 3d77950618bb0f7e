// The arguments of MPI_Alltoallv, checked and as our exchanges take them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/alltoall/alltoall_blocks.hpp"
#include "runtime/alltoall/alltoall_call.hpp"
#include "runtime/alltoall/alltoall_space.hpp"
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
  void assign(Side side, MPI_Comm comm, const AlltoallCall::Side& given, bool are_equal = false);

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

  /// Both sides of a call that is no w; of one in place the receiving side alone. @throws as BlocksArgument::assign
  void assign(MPI_Comm comm, const AlltoallCall& call) {
    const bool are_equal = call.kind == AlltoallCall::Kind::equal;
    receives.assign(Side::receive, comm, call.receives, are_equal);
    if (!call.is_in_place()) sends.assign(Side::send, comm, call.sends, are_equal);
  }

  /// The size of every block of the call, if all ranks know it.
  std::optional<Bytes> block_bytes(const AlltoallCall& call) const {
    return call.kind == AlltoallCall::Kind::equal ? std::optional(call.receives.count * receives.type->size())
                                                  : std::nullopt;
  }

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
