// Stand-ins for preload/ticks.cpp, whose ticks are nanoseconds of simulated time, and for MPI functions that SMPI
// lacks.
#include <mpi.h>

#include "preload/ticks.hpp"

#include <simgrid/s4u.hpp>

namespace commpass {

Seconds monotonic_seconds() { return simgrid::s4u::Engine::get_clock(); }

std::uint64_t read_ticks() {
  constexpr double ticks_per_s = 1e9;
  return static_cast<std::uint64_t>(monotonic_seconds() * ticks_per_s);
}

TickClock::TickClock() : begin_ticks_(read_ticks()), measured_until_(begin_ticks_), begin_s_(monotonic_seconds()) {
  measure();
}

void TickClock::measure() {
  measured_until_ = read_ticks();
  seconds_per_tick_ = 1e-9;
}

Seconds TickClock::since_begin(std::uint64_t ticks) {
  return ticks > begin_ticks_ ? duration(ticks - begin_ticks_) : 0;
}

}  // namespace commpass

namespace {
int last_key = MPI_KEYVAL_INVALID;  // NOLINT: of a rank
}

extern "C" {

int commpass_keep_last_key(int* key) {
  last_key = *key;
  return MPI_SUCCESS;
}
int MPI_Finalize() {
  PMPI_Comm_delete_attr(MPI_COMM_SELF, last_key);
  return PMPI_Finalize();
}

int PMPI_Comm_test_inter(MPI_Comm comm, int* is_intercommunicator) {
  return MPI_Comm_test_inter(comm, is_intercommunicator);
}
int PMPI_Comm_get_parent(MPI_Comm* parent) {
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
// That of SMPI 3.32 gives wrong minima.
int PMPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                    MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return PMPI_Allreduce(send, receive, count, type, operation, comm);
}
int PMPI_Topo_test(MPI_Comm, int* topology) {
  *topology = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // extern "C"
