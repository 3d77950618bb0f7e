// Communicators and all-to-alls that are called once, from C.
#include <span>

#include "commpass/commpass.h"
#include "runtime/c_support.hpp"
#include "runtime/engines.hpp"

namespace {

using commpass::c::guarded;
using commpass::c::require_communicator;

commpass::AlltoallvOptions alltoallv_options(const char* strategy) { return {strategy ? strategy : "", {}}; }

/// A list with an item for each rank.
template <class Item>
std::span<const Item> of_ranks(commpass_comm comm, const Item* items) {
  const auto ranks = static_cast<std::size_t>(comm->engines.context->layout.ranks());
  return items ? std::span(items, ranks) : std::span<const Item>();
}

}  // namespace

const char* commpass_version(void) { return COMMPASS_VERSION; }

const char* commpass_error_text(void) { return commpass::c::error_text(); }

int commpass_comm_create(MPI_Comm mpi_comm, const char* profile, commpass_comm* comm) {
  return commpass_comm_create_laid_out(mpi_comm, profile, nullptr, comm);
}

int commpass_comm_create_laid_out(MPI_Comm mpi_comm, const char* profile, const char* layout, commpass_comm* comm) {
  *comm = nullptr;
  return guarded([&] {
    *comm = new commpass_comm_state{
        commpass::Engines(commpass::make_context(mpi_comm, profile ? profile : "", nullptr, {}, layout ? layout : ""))};
  });
}

int commpass_comm_use_wisdom(commpass_comm comm, const char* file) {
  return commpass::c::guarded([&] {
    commpass::c::require_communicator(comm);
    commpass::use_wisdom(*comm->engines.context, file ? file : "");
  });
}

int commpass_comm_free(commpass_comm* comm) {
  delete *comm;
  *comm = nullptr;
  return COMMPASS_SUCCESS;
}

int commpass_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                       const char* strategy, commpass_comm comm) {
  return guarded([&] {
    require_communicator(comm);
    comm->engines.alltoallv->alltoallv(sendbuf, of_ranks(comm, sendcounts), of_ranks(comm, sdispls), sendtype, recvbuf,
                                       of_ranks(comm, recvcounts), of_ranks(comm, rdispls), recvtype,
                                       alltoallv_options(strategy));
  });
}

int commpass_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, const char* strategy, commpass_comm comm) {
  return guarded([&] {
    require_communicator(comm);
    comm->engines.alltoallv->alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      alltoallv_options(strategy));
  });
}

int commpass_alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       const char* strategy, commpass_comm comm) {
  return guarded([&] {
    require_communicator(comm);
    auto& engines = comm->engines;
    engines.alltoallw.run(*engines.alltoallv, engines.context->comm.get(), sendbuf,
                          {of_ranks(comm, sendcounts), of_ranks(comm, sdispls), of_ranks(comm, sendtypes)}, recvbuf,
                          {of_ranks(comm, recvcounts), of_ranks(comm, rdispls), of_ranks(comm, recvtypes)},
                          alltoallv_options(strategy));
  });
}
