// Takes in a message for which there is no memory, so that its sender goes on.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "model/types.hpp"

namespace commpass {

/// Begins to receive a message whose bytes nobody will see: all of them land in the same small place.
/// @param place  stays until the request is complete; not empty
void receive_and_forget(std::span<std::byte> place, Bytes bytes, Rank peer, int tag, MPI_Comm comm, MPI_Request* request);

}  // namespace commpass
