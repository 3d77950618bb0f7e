#include "runtime/mpi/crowd_warning.hpp"

#include <fmt/core.h>

#include "runtime/mpi/crowd.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

std::string crowd_warning(MPI_Comm comm) {
  const auto host = OwnCommunicator::split_by_node(comm);
  int crowd = are_crowded(host.get()) ? host.size() : 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &crowd, 1, MPI_INT, MPI_MAX, comm);
  return crowd > 0 ? fmt::format(
                         "{} ranks share fewer cores of a host and take turns: these are times of the scheduler", crowd)
                   : std::string();
}

}  // namespace commpass
