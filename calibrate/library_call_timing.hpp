// Experiments that time a collective of the MPI library, and a direct exchange of the same messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

// Every function is collective. Times are of one exchange: the mean of `repetitions` on the slowest rank.

/// The neighbourhood collective. Every rank sends small messages to the ranks after it, in turn, by the executors of
/// real exchanges.
class CollectiveBench {
 public:
  /// @param messages  that each rank sends, and receives
  /// @param machine   for which the direct exchange is made
  CollectiveBench(MPI_Comm comm, int messages, const Machine& machine);

  Seconds direct(int repetitions);
  Seconds by_library(int repetitions);

 private:
  OwnCommunicator comm_;
  std::vector<std::byte> send_, receive_;
  std::optional<Executor> direct_, by_library_;
};

/// MPI_Alltoallv. Every rank sends a block to each of some ranks after it, and receives one from each of as many before
/// it. The direct exchange is called once.
class AlltoallvBench {
 public:
  /// @param messages  that each rank sends: fewer than there are ranks
  /// @param bytes     of each
  AlltoallvBench(MPI_Comm comm, const Layout& layout, int messages, Bytes bytes);

  Seconds direct(int repetitions);
  /// Each call follows a reduction, as calls of AlltoallvEngine do.
  Seconds by_library(int repetitions);

 private:
  OwnCommunicator comm_;
  AlltoallStructure structure_;
  AlltoallExchange exchange_;
  NonblockingReduction arrival_;
  std::vector<int> sent_, received_, offsets_;  ///< bytes, by rank
  std::vector<std::byte> send_, receive_;
};

}  // namespace commpass
