#include "runtime/mpi/crowd.hpp"

#include <sched.h>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

bool are_crowded(MPI_Comm node) {
  cpu_set_t own, all;
  CPU_ZERO(&own);
  CPU_ZERO(&all);
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own);
  COMMPASS_MPI_CALL(MPI_Allreduce, &own, &all, static_cast<int>(sizeof own), MPI_BYTE, MPI_BOR, node);
  const int cores = CPU_COUNT(&all);
  return cores > 0 && ranks_in(node) > cores;
}

}  // namespace commpass
