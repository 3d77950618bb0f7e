// The conditions under which a timing begins, and how long an exchange of all ranks takes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <span>

#include "model/base/types.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// Returns on all ranks at about the same time: a barrier. (Simulated clusters have one clock for all ranks, and use
/// it: tests/simulation.) Collective.
void common_start(MPI_Comm comm);

/// Waits while MPI moves nothing on in this rank.
void wait_without_mpi(double seconds);

/// Writes each cache line of host memory without changing it, as a program does that computes its messages: then only
/// the caches of this processor have it, as far as there is room. Without that, a receiver whose own cache still has
/// the memory of its previous receive gets it up to twice as fast as anything that a program sends.
inline void touch_buffer(std::span<std::byte> memory) {
  constexpr std::size_t cache_line = 64;  // no processor has smaller ones
  for (std::size_t i = 0; i < memory.size(); i += cache_line) {
    volatile std::byte& byte = memory[i];
    byte = byte;
  }
}

/// Runs `exchange` on every rank of `comm`, from a common start to the last finish. Collective.
/// @param sent  what this rank sends, which is written anew before (touch_buffer)
/// @return the seconds of the slowest rank, the same on every rank
inline Seconds time_exchange(MPI_Comm comm, const std::function<void()>& exchange, std::span<std::byte> sent = {}) {
  touch_buffer(sent);
  common_start(comm);
  const double begin = MPI_Wtime();
  exchange();
  const Seconds elapsed = MPI_Wtime() - begin;
  Seconds slowest = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return slowest;
}

}  // namespace commpass
