// How long an exchange of all ranks takes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <span>

#include "model/base/types.hpp"

namespace commpass {

/// Runs `exchange` on every rank of `comm`, from a common start to the last finish. Collective.
/// @param sent  what this rank sends, which is written anew before (runtime/mpi/timed_start.hpp)
/// @return the seconds of the slowest rank, the same on every rank
Seconds time_exchange(MPI_Comm comm, const std::function<void()>& exchange, std::span<std::byte> sent = {});

}  // namespace commpass
