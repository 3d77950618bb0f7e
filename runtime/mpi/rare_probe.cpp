#include <thread>

#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

void RareProbe::poll(MPI_Comm comm) {
  constexpr unsigned polls_a_probe = 32, polls_a_yield = 1024;
  if (++polls_ % polls_a_probe == 0) {
    int found = 0;
    COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
  }
  if (polls_ % polls_a_yield == 0) std::this_thread::yield();
}

}  // namespace commpass
