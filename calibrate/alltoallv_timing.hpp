// The experiment that prices MPI_Alltoallv: the same blocks by it, and as a direct exchange that is called once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"
#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

/// Every rank sends a block to each of some ranks after it, and gets one from each of as many before it. Every function
/// is collective; the result is the same on all ranks.
class AlltoallvBench {
 public:
  /// @param messages  that each rank sends: fewer than there are ranks
  /// @param bytes     of each
  AlltoallvBench(MPI_Comm comm, const Layout& layout, int messages, Bytes bytes);

  /// One exchange, the mean of `repetitions` for the slowest rank.
  Seconds direct(int repetitions);
  /// Each call behind a reduction, as calls are left to the library (AlltoallvEngine).
  Seconds by_library(int repetitions);

 private:
  Seconds time(int repetitions, const std::function<void()>& exchange);

  OwnCommunicator comm_;
  AlltoallStructure structure_;
  AlltoallExchange exchange_;
  NonblockingReduction arrival_;
  std::vector<int> sent_, received_, offsets_;  ///< bytes, by rank
  std::vector<std::byte> send_, receive_;
};

}  // namespace commpass
