// On a simulated cluster, whose MPI_Is_thread_main is true of the first rank alone.
#include "runtime/mpi/main_thread.hpp"

namespace commpass {

bool is_main_thread() { return true; }

}  // namespace commpass
