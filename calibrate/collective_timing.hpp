// The experiment that prices the MPI library's neighbourhood collective: the same messages by it, and as a direct
// exchange.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/machine.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

/// Every rank sends some small messages to the ranks after it, in turn, by what runs real exchanges. Every function is
/// collective; the result is the same on all ranks.
class CollectiveBench {
 public:
  /// @param messages  that each rank sends, and receives
  /// @param machine   for which the direct exchange is made
  CollectiveBench(MPI_Comm comm, int messages, const Machine& machine);

  /// One exchange, the mean of `repetitions` for the slowest rank.
  Seconds direct(int repetitions);
  Seconds by_library(int repetitions);

 private:
  OwnCommunicator comm_;
  std::vector<std::byte> send_, receive_;
  std::optional<Executor> direct_, by_library_;
};

}  // namespace commpass
