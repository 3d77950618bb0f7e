// On which hosts the ranks of a communicator run.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace commpass {

/// The names of the hosts as MPI gives them, one for each rank, in rank order. Collective.
/// @return the names on rank 0, nothing elsewhere
std::vector<std::string> host_names(MPI_Comm comm);

}  // namespace commpass
