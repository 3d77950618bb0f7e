// Experiments other than messages: collectives, one-sided communication, and the memory of a rank. Every function is
// collective and returns the mean of `repetitions`: on the slowest rank, or in the memory of ranks the median over
// ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/alltoall/arrivals.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

Seconds time_barrier(MPI_Comm comm, int repetitions);
Seconds time_allreduce(MPI_Comm comm, int repetitions);
/// Creates a window over `memory` and frees it.
Seconds time_window(MPI_Comm comm, std::span<std::byte> memory, int repetitions);

/// A window of MPI over `memory` of every rank. Creating and destroying it is collective.
class PutWindow {
 public:
  PutWindow(MPI_Comm comm, std::span<std::byte> memory);
  PutWindow(const PutWindow&) = delete;
  PutWindow& operator=(const PutWindow&) = delete;
  ~PutWindow();
  MPI_Win get() const { return window_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

inline constexpr int puts_max = 32;  ///< in an epoch
inline constexpr Bytes put_bytes = 8;
/// An epoch in which every rank puts `puts` times `put_bytes` into ranks all over the communicator, and its fence.
/// @param window  over ranks·puts_max·put_bytes of every rank of `comm`
Seconds time_puts(MPI_Comm comm, const PutWindow& window, int puts, int repetitions);

/// The neighbourhood collective, and a direct exchange of the same messages by the executors of real exchanges. Every
/// rank sends small messages to the ranks after it, in turn.
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

/// MPI_Alltoallv, and a direct exchange of the same blocks that is called once. Every rank sends a block to each of
/// some ranks after it, and receives one from each of as many before it.
class AlltoallvBench {
 public:
  /// @param messages  that each rank sends: fewer than there are ranks
  /// @param bytes     of each
  AlltoallvBench(MPI_Comm comm, const Layout& layout, int messages, Bytes bytes);

  Seconds direct(int repetitions);
  /// Each call is announced, as calls of AlltoallvEngine are.
  Seconds by_library(int repetitions);

 private:
  OwnCommunicator comm_;
  AlltoallStructure structure_;
  AlltoallExchange exchange_;
  Arrivals arrivals_;
  std::vector<int> sent_, received_, offsets_;  ///< bytes, by rank
  std::vector<std::byte> send_, receive_;
};

/// Copies `bytes`, each time at the next place in the buffers.
/// @param from, to  of the same size, at least `bytes`
Seconds time_local_copy(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes bytes,
                        int repetitions);

/// Copies values with gaps by a loop.
/// @param from  holds 2·values·value_bytes
/// @param to    holds values·value_bytes
Seconds time_value_loop(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes value_bytes,
                        int values, int repetitions);

/// Adds doubles to as many others, by the loop of IndexedExchange::reverse_add, each time at the next place of both.
/// @param from   holds doubles, as `to` does
/// @param bytes  of whole doubles; both hold as many or more
Seconds time_addition(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes bytes,
                      int repetitions);

/// Packs pieces of a derived datatype (indexed blocks with uneven gaps) and unpacks them: half of the time of both.
/// @param scattered  holds 2·pieces·piece_bytes
/// @param packed     holds pieces·piece_bytes
Seconds time_datatype(MPI_Comm comm, std::span<std::byte> scattered, std::span<std::byte> packed, Bytes piece_bytes,
                      int pieces, int repetitions);

}  // namespace commpass
