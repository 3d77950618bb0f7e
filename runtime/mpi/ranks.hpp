// The ranks of a communicator: their numbers there and in MPI_COMM_WORLD, and their hosts.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// The number of this rank. Local. @throws MpiError, as all that follow
Rank rank_in(MPI_Comm comm);

/// How many ranks there are. Local.
int ranks_in(MPI_Comm comm);

/// By rank of `comm`, or of the remote group of an intercommunicator; MPI_UNDEFINED for a rank that MPI_COMM_WORLD does
/// not have. Empty where there is no MPI_COMM_WORLD, as in a program that uses sessions alone. Local.
std::vector<int> world_ranks_of(MPI_Comm comm);

/// The names of the hosts as MPI gives them, one for each rank, in rank order. Collective.
/// @return the names on rank 0, nothing elsewhere
std::vector<std::string> host_names(MPI_Comm comm);

}  // namespace commpass
