// Which ranks of a communicator share a node, a socket, a NUMA domain and a cache.
#pragma once

#include <mpi.h>

#include "model/machine/layout.hpp"

namespace commpass {

/// Nodes by MPI_COMM_TYPE_SHARED; sockets, NUMA domains (`numa`) and L3 caches (`cache`) by what a rank is bound to
/// (hwloc), those that differ from the next outer ones. A rank that is bound to none counts to the first. Groups of
/// nodes by Slurm's topology, where it tells. Ranks look once in a process: a communicator whose ranks are all in an
/// earlier one has its part of that layout, and a rank that was bound elsewhere since keeps its place. Collective.
/// @throws MpiError
Layout detect_layout(MPI_Comm comm);

}  // namespace commpass
