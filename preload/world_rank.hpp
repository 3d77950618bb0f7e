// Ranks of communicators as those of MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include "model/base/types.hpp"

namespace commpass {

/// A rank of a communicator, of an intercommunicator the remote ones, in MPI_COMM_WORLD; MPI_UNDEFINED where that does
/// not have it.
Rank world_rank(MPI_Comm comm, int rank);

}  // namespace commpass
