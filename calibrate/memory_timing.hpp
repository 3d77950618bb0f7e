// Experiments within the memory of a rank. They are collective, run on all ranks at once, and return the median over
// ranks of the mean of `repetitions`.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "model/base/types.hpp"

namespace commpass {

/// Copies `bytes`, each time at the next place in the buffers.
/// @param from, to  of the same size, at least `bytes`
Seconds time_local_copy(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes bytes,
                        int repetitions);

/// Copies values with gaps by a loop.
/// @param from  holds 2·values·value_bytes
/// @param to    holds values·value_bytes
Seconds time_value_loop(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes value_bytes,
                        int values, int repetitions);

/// Packs pieces of a derived datatype (indexed blocks with uneven gaps) and unpacks them.
/// @param scattered  holds 2·pieces·piece_bytes
/// @param packed     holds pieces·piece_bytes
/// @return half of the time of both
Seconds time_datatype(MPI_Comm comm, std::span<std::byte> scattered, std::span<std::byte> packed, Bytes piece_bytes,
                      int pieces, int repetitions);

}  // namespace commpass
