// How many threads a rank may start.
#pragma once

#include <mpi.h>

namespace commpass {

/// Has MPI been told that there may be threads besides that which calls it? Without that none may be started.
bool may_start_threads();

/// The part of this rank of the cores of its node, at least 1; 1 where it may not start threads.
/// @param node  the ranks of this node
unsigned threads_of_rank(MPI_Comm node);

}  // namespace commpass
