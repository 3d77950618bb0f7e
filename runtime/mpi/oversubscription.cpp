#include "runtime/mpi/oversubscription.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass {

bool is_oversubscribed(MPI_Comm node) {
  cpu_set_t own, all;
  CPU_ZERO(&own);
  CPU_ZERO(&all);
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own);
  COMMPASS_MPI_CALL(MPI_Allreduce, &own, &all, static_cast<int>(sizeof own), MPI_BYTE, MPI_BOR, node);
  const int cores = CPU_COUNT(&all);
  return cores > 0 && ranks_in(node) > cores;
}

bool may_share_memory() { return true; }

std::string oversubscription_warning(MPI_Comm comm) {
  const auto host = OwnCommunicator::split_by_node(comm);
  int ranks = is_oversubscribed(host.get()) ? host.size() : 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_MAX, comm);
  if (ranks == 0) return {};
  return fmt::format("{} ranks share fewer cores of a host and take turns: these are times of the scheduler", ranks);
}

unsigned threads_of_rank(MPI_Comm node) {
  int level = MPI_THREAD_SINGLE;
  COMMPASS_MPI_CALL(MPI_Query_thread, &level);
  if (level == MPI_THREAD_SINGLE) return 1;
  return std::max(1U, usable_cores() / static_cast<unsigned>(ranks_in(node)));
}

}  // namespace commpass
