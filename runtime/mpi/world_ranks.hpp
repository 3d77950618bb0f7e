// The ranks of a communicator, as MPI_COMM_WORLD numbers them.
#pragma once

#include <mpi.h>

#include <vector>

namespace commpass {

/// By rank of `comm`, or of the remote group of an intercommunicator; MPI_UNDEFINED for a rank that MPI_COMM_WORLD does
/// not have. Empty where there is no MPI_COMM_WORLD, as in a program that uses sessions alone. Local.
/// @throws MpiError
std::vector<int> world_ranks_of(MPI_Comm comm);

}  // namespace commpass
