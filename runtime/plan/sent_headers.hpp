// Headers that ranks send each other, stage by stage, ahead of the data.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "model/route/strategy.hpp"
#include "runtime/plan/headers.hpp"

namespace commpass {

/// A HeaderSource for any route: senders of messages send their receivers the blocks. One collective call in each stage
/// gives ranks the number of their headers. All ranks wait for all in it, so headers of two stages never match. Nothing
/// else may use the communicator meanwhile.
class SentHeaders {
 public:
  /// Local. Takes an int for every rank, two if staggered. @throws std::bad_alloc, MpiError
  SentHeaders(MPI_Comm comm, Coalescing coalescing);
  ~SentHeaders();
  SentHeaders(const SentHeaders&) = delete;
  SentHeaders& operator=(const SentHeaders&) = delete;

  /// Collective. Discards headers for which there is no memory. @throws Error, when no other rank waits any more
  Headers operator()(int stage, const Departures& departures, std::span<const Block> held);

 private:
  struct Outgoing;
  /// The reduced counts of all ranks.
  struct Count {
    int messages = 0;     ///< that this rank receives
    int most_blocks = 0;  ///< in any message of the stage, if staggered
  };
  Count count(const Departures& departures);

  MPI_Comm comm_;
  int ints_each_;
  std::vector<int> counts_;  ///< for every rank
  MPI_Datatype header_type_ = MPI_DATATYPE_NULL;
  MPI_Op sum_and_max_ = MPI_OP_NULL;  ///< of pairs of ints, if staggered
};

}  // namespace commpass
