// What one rank does in an exchange between all pairs of ranks, whatever the sizes are.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "model/route/route.hpp"
#include "model/route/strategy.hpp"
#include "runtime/plan/stage_walk.hpp"

namespace commpass {

/// Every rank has one block, perhaps empty, for every rank; so which message holds which blocks follows from the route
/// alone, and is found once for any number of exchanges. Only sizes are new each time.
///
/// A block on this rank has a number: its own block for rank d has d; those that it forwards have P and up, in the
/// order in which they come. A message that does not land where its blocks belong lands in a *slot*, and what it brings
/// to be forwarded waits there. The slot is left to other messages in the batch after that in which the last of it
/// leaves.
struct AlltoallStructure {
  struct Message {
    Rank peer = 0;
    std::size_t first = 0, blocks = 0;  ///< into `blocks`
    /// Of the blocks, those that the receiver forwards, whose sizes it has to be told: of a message that is sent a
    /// range of `announced`; of one that comes, the blocks with the numbers first_announced and up.
    std::size_t first_announced = 0, announced = 0;
    std::size_t slot = 0;  ///< of one that comes
  };
  /// The messages in flight at once.
  struct Batch {
    std::size_t receives_end = 0, sends_end = 0;  ///< into `receives` and `sends`; those of the next one follow
  };
  struct Stage {
    std::size_t batches_end = 0, receives_end = 0, sends_end = 0;
  };

  std::vector<Stage> stages;
  std::vector<Batch> batches;
  std::vector<Message> receives, sends;
  /// In the order of their messages: by destination and source. Of messages that are sent, numbers of blocks. Of those
  /// that come, numbers of blocks to forward, or, for a block that ends here, −1 − its source; the latter follow each
  /// other.
  std::vector<std::int32_t> blocks;
  std::vector<std::int32_t> announced;  ///< numbers of blocks
  std::size_t forwarded = 0;            ///< how many blocks this rank forwards
  std::size_t slots = 0;
};

/// Collective over `comm`, which must not be used by others meanwhile. A rank needs some 100 bytes for each rank and
/// stage.
/// @param route  one that depends on no pattern
/// @throws Error, the same on every rank
AlltoallStructure make_alltoall_structure(MPI_Comm comm, const Route& route, Window window, Coalescing coalescing);

/// The same by one rank alone (ComputedHeaders says what it takes). @throws Error, std::bad_alloc
AlltoallStructure find_alltoall_structure(const RouteOfRank& own);

}  // namespace commpass
