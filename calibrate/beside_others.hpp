// What other programs do while something is measured.
#pragma once

#include <mpi.h>

#include <functional>

namespace commpass {

/// Does the work. Collective.
/// @return processors that other programs kept busy meanwhile, on average, on the host where they are most. The same on
/// every rank
double beside_others(MPI_Comm comm, const std::function<void()>& work);

}  // namespace commpass
