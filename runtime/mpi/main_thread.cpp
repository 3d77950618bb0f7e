// Replaced on simulated clusters.
#include <mpi.h>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/one_thread.hpp"

namespace commpass {

bool is_main_thread() {
  int is_main = 1;
  COMMPASS_MPI_CALL(MPI_Is_thread_main, &is_main);
  return is_main != 0;
}

}  // namespace commpass
