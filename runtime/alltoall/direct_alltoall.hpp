// An all-to-all on one node whose blocks go straight from the senders' buffers to the receivers', through streams.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/execute/node_streams.hpp"
#include "runtime/mpi/typed_blocks.hpp"

namespace commpass {

/// What AlltoallExchange does by a structure of one stage without forwarding, where streams reach all ranks and all
/// blocks are bytes in host memory: the same messages, without structure and places, which take longer than a short
/// message does.
class DirectAlltoall {
 public:
  /// One side of a call.
  struct Side {
    const void* buffer;           ///< written to on the receiving side; perhaps MPI_BOTTOM
    Bytes element;                ///< bytes, of which counts and places are multiples
    Bytes count;                  ///< of every block, unless there are counts
    const int* counts = nullptr;  ///< by rank
    const int* places = nullptr;  ///< likewise

    Bytes bytes(Rank rank) const { return element * (counts ? counts[rank] : count); }
    std::byte* at(Rank rank) const {
      return TypedBlocks::address(buffer, element * (counts ? places[rank] : rank * count));
    }
  };

  /// @throws std::bad_alloc
  void make_room(NodeStreams& streams, int ranks) {
    const auto size = static_cast<std::size_t>(ranks);
    streams.make_room(size);
    got_.resize(size);
  }
  /// Collective; on other ranks it may be an AlltoallExchange. Takes no memory.
  /// @return what this rank did not get, if anything
  /// @throws MpiError
  std::optional<AlltoallDamage> run(NodeStreams& streams, Rank rank, MPI_Comm comm, const Side& sends,
                                    const Side& receives);

 private:
  /// The first wrong message and the number of others, or the wrong block of this rank to itself.
  std::optional<AlltoallDamage> damage(Rank rank, const Side& sends, const Side& receives) const;

  std::vector<Bytes> got_;  ///< by rank
};

}  // namespace commpass
