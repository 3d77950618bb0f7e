#include "runtime/mpi/timed_start.hpp"

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

void common_start(MPI_Comm comm) { COMMPASS_MPI_CALL(MPI_Barrier, comm); }

void wait_without_mpi(double seconds) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < seconds) continue;
}

}  // namespace commpass
