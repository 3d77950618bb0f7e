// Which rank of a communicator this is, and of how many.
#pragma once

#include <mpi.h>

#include "model/base/types.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// @throws MpiError
inline Rank rank_in(MPI_Comm comm) {
  int rank = 0;
  COMMPASS_MPI_CALL(MPI_Comm_rank, comm, &rank);
  return rank;
}

/// @throws MpiError
inline int ranks_in(MPI_Comm comm) {
  int ranks = 0;
  COMMPASS_MPI_CALL(MPI_Comm_size, comm, &ranks);
  return ranks;
}

}  // namespace commpass
