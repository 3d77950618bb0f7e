// Experiments with collectives and one-sided communication, on all ranks of a communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "model/base/types.hpp"

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

/// Each of these is collective, and gives the mean of `repetitions` for the slowest rank.
Seconds time_barrier(MPI_Comm comm, int repetitions);
Seconds time_allreduce(MPI_Comm comm, int repetitions);
/// Creating a window over `memory` and freeing it.
Seconds time_window(MPI_Comm comm, std::span<std::byte> memory, int repetitions);

inline constexpr int most_puts = 32;  ///< in an epoch
inline constexpr Bytes put_bytes = 8;
/// An epoch in which every rank puts `puts` times `put_bytes` into ranks all over the communicator, and the fence that
/// ends it.
/// @param window  over ranks·most_puts·put_bytes of every rank of `comm`
Seconds time_puts(MPI_Comm comm, const PutWindow& window, int puts, int repetitions);

}  // namespace commpass
