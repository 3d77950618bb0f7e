// The arguments of MPI_Alltoallv, checked and as our exchanges take them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/dense_exchange.hpp"
#include "runtime/element_type.hpp"

namespace commpass {

enum class Side { send, receive };

/// What one side of a call names: of each rank so many elements, from so far on.
struct BlocksArgument {
  std::vector<Bytes> counts, offsets;  ///< elements, by rank
  std::optional<ElementType> type;

  /// @throws InputError if there is not one of each for every rank, or a count is negative; MpiError
  void assign(Side side, int ranks, std::span<const int> new_counts, std::span<const int> new_offsets, MPI_Datatype new_type);
  /// The same count for all ranks, one after another. @throws as assign
  void assign_equal(Side side, int ranks, int count, MPI_Datatype new_type);

  template <class Buffer>
  DenseBlocks<Buffer> blocks(Buffer buffer) const {
    return {buffer, counts, offsets, &*type};
  }
};

/// Both sides of a call. Kept from one call to the next, it takes no memory where no more is needed.
class AlltoallvArguments {
 public:
  BlocksArgument sends, receives;

  /// What is sent is what lies in the receive buffer: copies it out.
  void send_in_place(const void* receive_buffer);
  /// What was copied.
  DenseBlocks<const std::byte*> in_place() const { return sends.blocks<const std::byte*>(copy_.data()); }

 private:
  GrowingMemory copy_;
};

}  // namespace commpass
