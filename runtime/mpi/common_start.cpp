#include "runtime/mpi/common_start.hpp"

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

void common_start(MPI_Comm comm) { COMMPASS_MPI_CALL(MPI_Barrier, comm); }

}  // namespace commpass
