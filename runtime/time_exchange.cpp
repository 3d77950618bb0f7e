#include "runtime/time_exchange.hpp"

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

Seconds time_exchange(MPI_Comm comm, const std::function<void()>& exchange, std::span<std::byte> sent) {
  touch_buffer(sent);
  common_start(comm);
  const double begin = MPI_Wtime();
  exchange();
  const Seconds elapsed = MPI_Wtime() - begin;
  Seconds slowest = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return slowest;
}

}  // namespace commpass
