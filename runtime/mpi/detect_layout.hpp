// Which ranks of a communicator share a node, a socket, a NUMA domain and a cache.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <vector>

#include "model/machine/layout.hpp"

namespace commpass {

/// Nodes by MPI_COMM_TYPE_SHARED; sockets, NUMA domains (`numa`) and L3 caches (`cache`) by the binding of ranks
/// (hwloc), unless they are the next outer ones. A rank that is bound to none is in the first. Groups of nodes by
/// Slurm's topology, if its environment has one. A process detects ranks once: a communicator whose ranks are all in an
/// earlier one has its part of that layout, and a rank that was bound elsewhere since keeps its place. Collective.
/// @throws MpiError
Layout detect_layout(MPI_Comm comm);

/// Innermost first.
using Levels = std::vector<Layout::LevelIds>;

/// The levels of ranks that all belong to one communicator whose levels this process has detected; nothing if there is
/// none. Detection reads thousands of files of the system, and a program may make many communicators. Local.
/// @param world_ranks  ranks in MPI_COMM_WORLD
/// @throws std::bad_alloc
std::optional<Levels> find_known_levels(std::span<const int> world_ranks);

/// Keeps the levels of the latest 8 communicators. Local. @throws std::bad_alloc
void remember_levels(std::span<const int> world_ranks, const Levels& levels);

}  // namespace commpass
