// Lists of datatypes that MPI libraries read until a request is done.
#pragma once

#include <mpi.h>

#include <vector>

namespace commpass {

/// A copy that stays. Open MPI reads the datatypes of an alltoallw that does not block until its request is done, and
/// does not tell when. Equal lists share one copy, which is never freed: programs make few different ones.
/// @throws std::bad_alloc
const MPI_Datatype* keep_types(const std::vector<MPI_Datatype>& types);

}  // namespace commpass
