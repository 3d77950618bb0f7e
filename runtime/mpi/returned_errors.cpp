#include "runtime/mpi/returned_errors.hpp"

#include <mpi.h>

#include <array>
#include <mutex>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

struct Told {
  MPI_Comm comm;
  MPI_Errhandler handler;  ///< of the program
};

std::mutex mutex;
int depth = 0;        // how many there are, of all threads
bool is_set = false;  // are the handlers ours?
std::array<Told, 2> told{Told{MPI_COMM_WORLD, MPI_ERRHANDLER_NULL}, Told{MPI_COMM_SELF, MPI_ERRHANDLER_NULL}};

}  // namespace

ReturnedErrors::ReturnedErrors() noexcept {
  const std::lock_guard lock(mutex);
  if (depth++ > 0 || !mpi_is_usable()) return;
  is_set = true;
  for (auto& [comm, handler] : told) {
    handler = MPI_ERRHANDLER_NULL;  // SimGrid has none of MPI_COMM_SELF
    MPI_Comm_get_errhandler(comm, &handler);
    if (handler != MPI_ERRHANDLER_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
}

ReturnedErrors::~ReturnedErrors() {
  const std::lock_guard lock(mutex);
  if (--depth > 0 || !is_set) return;
  is_set = false;
  for (auto& [comm, handler] : told) {
    if (handler == MPI_ERRHANDLER_NULL) continue;
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
  }
}

}  // namespace commpass
