// How the ranks of a node share its cores, and whether its memory.
#pragma once

#include <mpi.h>

#include <string>

namespace commpass {

/// Are there more ranks on this node than cores that they may run on? Then a rank that waits should yield its core.
/// Collective over the ranks of a node.
/// @param node  the ranks of this node
bool is_oversubscribed(MPI_Comm node);

/// May messages go through memory that ranks share? Not on simulated clusters, whose clock does not see it.
bool may_share_memory();

/// Part of a sentence if the ranks of a host share fewer cores; else empty. Collective; the same on every rank.
std::string oversubscription_warning(MPI_Comm comm);

/// The share of this rank of the cores of its node, at least 1; 1 unless MPI was told that there may be threads besides
/// the calling one (MPI_Init_thread). Local.
/// @param node  the ranks of this node
unsigned threads_of_rank(MPI_Comm node);

}  // namespace commpass
