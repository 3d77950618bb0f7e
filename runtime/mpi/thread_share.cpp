#include "runtime/mpi/thread_share.hpp"

#include <algorithm>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass {

bool may_start_threads() {
  int level = MPI_THREAD_SINGLE;
  COMMPASS_MPI_CALL(MPI_Query_thread, &level);
  return level != MPI_THREAD_SINGLE;
}

unsigned threads_of_rank(MPI_Comm node) {
  const auto ranks = static_cast<unsigned>(ranks_in(node));
  return may_start_threads() ? std::max(1U, usable_cores() / ranks) : 1;
}

}  // namespace commpass
