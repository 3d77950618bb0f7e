// What to say before ranks that take turns are timed.
#pragma once

#include <mpi.h>

#include <string>

namespace commpass {

/// Part of a sentence if the ranks of a host share fewer cores; else empty. Collective; the same on every rank.
std::string crowd_warning(MPI_Comm comm);

}  // namespace commpass
