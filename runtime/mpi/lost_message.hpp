// Takes in a message for which there is no memory, so that its sender goes on.
#pragma once

#include <mpi.h>

#include "model/base/types.hpp"

namespace commpass {

/// Begins to receive a message whose bytes nobody will see: all of them land in the same small place.
void receive_and_forget(Bytes bytes, Rank peer, int tag, MPI_Comm comm, MPI_Request* request);

}  // namespace commpass
