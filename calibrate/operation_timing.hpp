// Experiments with collectives and one-sided communication, on all ranks of a communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "model/base/types.hpp"
#include "runtime/time_exchange.hpp"

namespace commpass {

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

/// Each of these is collective, and returns the mean of `repetitions` on the slowest rank.
template <class Operation>
Seconds mean_seconds(MPI_Comm comm, int repetitions, Operation operation) {
  const auto repeat = [&] {
    for (int i = 0; i < repetitions; ++i) operation();
  };
  return time_exchange(comm, repeat) / repetitions;
}
Seconds time_barrier(MPI_Comm comm, int repetitions);
Seconds time_allreduce(MPI_Comm comm, int repetitions);
/// Creates a window over `memory` and frees it.
Seconds time_window(MPI_Comm comm, std::span<std::byte> memory, int repetitions);

inline constexpr int puts_max = 32;  ///< in an epoch
inline constexpr Bytes put_bytes = 8;
/// An epoch in which every rank puts `puts` times `put_bytes` into ranks all over the communicator, and its fence.
/// @param window  over ranks·puts_max·put_bytes of every rank of `comm`
Seconds time_puts(MPI_Comm comm, const PutWindow& window, int puts, int repetitions);

}  // namespace commpass
