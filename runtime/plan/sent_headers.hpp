// Headers that ranks send each other, stage by stage, ahead of the data.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "model/route/strategy.hpp"
#include "runtime/plan/headers.hpp"

namespace commpass {

/// A HeaderSource for any route: the sender of a message tells its receiver what it holds. One collective call in each
/// stage, by which ranks learn how many headers come, and in which all wait for all: so those of two stages never meet.
/// Nobody else may use the communicator meanwhile.
class SentHeaders {
 public:
  /// Not collective. Takes an int for every rank, two if staggered. @throws std::bad_alloc, MpiError
  SentHeaders(MPI_Comm comm, Coalescing coalescing);
  ~SentHeaders();
  SentHeaders(const SentHeaders&) = delete;
  SentHeaders& operator=(const SentHeaders&) = delete;

  /// Collective. What there is no memory for is taken in and lost. @throws Error, when others do not wait any more
  Headers operator()(int stage, const Departures& departures, std::span<const Block> held);

 private:
  struct Outgoing;
  /// What a rank gets from the counts of all.
  struct Count {
    int messages = 0;     ///< that come to it
    int most_blocks = 0;  ///< in any message of the stage, if staggered
  };
  Count count(const Departures& departures);

  MPI_Comm comm_;
  int ints_each_;
  std::vector<int> counts_;  ///< for every rank
  MPI_Datatype header_type_ = MPI_DATATYPE_NULL;
  MPI_Op sum_and_largest_ = MPI_OP_NULL;  ///< of pairs of ints, if staggered
};

}  // namespace commpass
