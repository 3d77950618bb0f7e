// The grid of a communicator that MPI_Cart_create has made.
#pragma once

#include <mpi.h>

#include <optional>

#include "model/pattern/grid.hpp"

namespace commpass {

/// @return nothing for communicators without a Cartesian topology, or with one of no dimensions. Local.
/// @throws MpiError
std::optional<Grid> grid_of(MPI_Comm comm);

}  // namespace commpass
