// Experiments within the memory of a rank: copies, and derived datatypes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "model/base/types.hpp"

namespace commpass {

/// Copies `bytes`, on all ranks at once, each time at the next place in the buffers. Collective.
/// @param from, to  of the same size, at least `bytes`
/// @return the median over ranks of the mean of `repetitions`
Seconds time_local_copy(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes bytes,
                        int repetitions);

/// Copies values that lie apart by a loop, on all ranks at once. Collective.
/// @param from  holds 2·values·value_bytes
/// @param to    holds values·value_bytes
/// @return the median over ranks of the mean of `repetitions`
Seconds time_value_loop(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes value_bytes,
                        int values, int repetitions);

/// Packs pieces of a derived datatype (indexed blocks with uneven gaps) and unpacks them, on all ranks at once.
/// Collective.
/// @param scattered  holds 2·pieces·piece_bytes
/// @param packed     holds what MPI packs into: pieces·piece_bytes
/// @return half of the time of both, the median over ranks of the mean of `repetitions`
Seconds time_datatype(MPI_Comm comm, std::span<std::byte> scattered, std::span<std::byte> packed, Bytes piece_bytes,
                      int pieces, int repetitions);

}  // namespace commpass
