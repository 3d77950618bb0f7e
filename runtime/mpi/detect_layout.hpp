// Which ranks of a communicator share a node and a socket.
#pragma once

#include <mpi.h>

#include "model/machine/layout.hpp"

namespace commpass {

/// Nodes by MPI_COMM_TYPE_SHARED; sockets by the processor package that a rank is bound to (hwloc). A rank that is not
/// bound to one package counts to the first. Groups of nodes by Slurm's topology, where it tells. Collective.
/// @throws MpiError
Layout detect_layout(MPI_Comm comm);

}  // namespace commpass
