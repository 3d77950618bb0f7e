// The conditions under which a timing begins.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

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

}  // namespace commpass
