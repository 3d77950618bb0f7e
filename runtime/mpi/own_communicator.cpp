#include "runtime/mpi/own_communicator.hpp"

#include "model/base/error.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

void OwnCommunicator::require_intracommunicator(MPI_Comm comm) {
  int is_intercommunicator = 0;
  COMMPASS_MPI_CALL(MPI_Comm_test_inter, comm, &is_intercommunicator);
  if (is_intercommunicator)
    throw InputError("communicator", "it is an intercommunicator, whose two groups have ranks of their own",
                     "merge them with MPI_Intercomm_merge");
}

void OwnCommunicator::return_errors() const { COMMPASS_MPI_CALL(MPI_Comm_set_errhandler, comm_, MPI_ERRORS_RETURN); }

OwnCommunicator::OwnCommunicator(MPI_Comm comm) {
  require_intracommunicator(comm);
  COMMPASS_MPI_CALL(MPI_Comm_dup, comm, &comm_);
  return_errors();
}

OwnCommunicator OwnCommunicator::split_by_node(MPI_Comm comm) {
  OwnCommunicator result;
  COMMPASS_MPI_CALL(MPI_Comm_split_type, comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &result.comm_);
  result.return_errors();
  return result;
}

OwnCommunicator OwnCommunicator::with_neighbors(MPI_Comm comm, const std::vector<Rank>& sources,
                                                const std::vector<Rank>& destinations) {
  constexpr int keep_ranks = 0;
  OwnCommunicator result;
  COMMPASS_MPI_CALL(MPI_Dist_graph_create_adjacent, comm, static_cast<int>(sources.size()), sources.data(),
                    MPI_UNWEIGHTED, static_cast<int>(destinations.size()), destinations.data(), MPI_UNWEIGHTED,
                    MPI_INFO_NULL, keep_ranks, &result.comm_);
  result.return_errors();
  return result;
}

OwnCommunicator OwnCommunicator::split(MPI_Comm comm, int color, int key) {
  OwnCommunicator result;
  COMMPASS_MPI_CALL(MPI_Comm_split, comm, color, key, &result.comm_);
  if (result) result.return_errors();
  return result;
}

OwnCommunicator::~OwnCommunicator() {
  if (comm_ != MPI_COMM_NULL && mpi_is_usable()) MPI_Comm_free(&comm_);
}

Rank OwnCommunicator::rank() const { return rank_in(comm_); }

int OwnCommunicator::size() const { return ranks_in(comm_); }

}  // namespace commpass
