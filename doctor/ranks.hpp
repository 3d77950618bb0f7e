// What ranks find out together about where they run.
#pragma once

#include <mpi.h>

#include "doctor/findings.hpp"

namespace commpass {

/// All but what rank 0 knows of its host and of profiles. Takes about half a second. Collective.
/// @param machine  whose levels are timed
/// @return on rank 0 the facts of all ranks, elsewhere those of none
Facts examine_ranks(MPI_Comm comm, const Layout& layout, const Machine& machine);

}  // namespace commpass
