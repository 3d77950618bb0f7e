// Lets the ranks of a timing begin together.
#pragma once

#include <mpi.h>

namespace commpass {

/// Returns on all ranks at about the same time: a barrier. (Simulated clusters have a clock that is the same
/// everywhere, and use it: tests/simulation.) Collective.
void common_start(MPI_Comm comm);

/// Waits while MPI moves nothing on in this rank.
void wait_without_mpi(double seconds);

}  // namespace commpass
