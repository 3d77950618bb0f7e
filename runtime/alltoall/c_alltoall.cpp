// All-to-alls that are called once, from C.
#include <functional>
#include <memory>
#include <span>

#include "commpass/commpass.h"
#include "runtime/alltoall/started_alltoallv_state.hpp"
#include "runtime/c_exchange.hpp"
#include "runtime/c_support.hpp"
#include "runtime/engines.hpp"

namespace {

using commpass::StartedAlltoallv;
using commpass::c::guarded;
using commpass::c::require_communicator;

commpass::AlltoallvOptions alltoallv_options(const char* strategy) { return {strategy ? strategy : "", {}}; }

/// A list with an item for each rank.
template <class Item>
std::span<const Item> of_ranks(commpass_comm comm, const Item* items) {
  const auto ranks = static_cast<std::size_t>(comm->engines.context->layout.ranks());
  return items ? std::span(items, ranks) : std::span<const Item>();
}

/// @param begin  starts it
template <class Begin>
int start(commpass_comm comm, commpass_exchange* exchange, Begin begin) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = require_communicator(comm);
    *exchange = commpass::c::make_exchange(commpass::start_alltoall_by(comm->engines.alltoallv, begin));
  });
}

}  // namespace

int commpass_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                       const char* strategy, commpass_comm comm) {
  return guarded([&] {
    const auto use = require_communicator(comm);
    comm->engines.alltoallv->alltoallv(sendbuf, of_ranks(comm, sendcounts), of_ranks(comm, sdispls), sendtype, recvbuf,
                                       of_ranks(comm, recvcounts), of_ranks(comm, rdispls), recvtype,
                                       alltoallv_options(strategy));
  });
}

int commpass_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, const char* strategy, commpass_comm comm) {
  return guarded([&] {
    const auto use = require_communicator(comm);
    comm->engines.alltoallv->alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      alltoallv_options(strategy));
  });
}

int commpass_alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       const char* strategy, commpass_comm comm) {
  return guarded([&] {
    const auto use = require_communicator(comm);
    auto& engines = comm->engines;
    engines.alltoallw.run(*engines.alltoallv, engines.context->comm.get(), sendbuf,
                          {of_ranks(comm, sendcounts), of_ranks(comm, sdispls), of_ranks(comm, sendtypes)}, recvbuf,
                          {of_ranks(comm, recvcounts), of_ranks(comm, rdispls), of_ranks(comm, recvtypes)},
                          alltoallv_options(strategy));
  });
}

int commpass_ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                        void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                        const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  return start(comm, exchange, [&](StartedAlltoallv::State& state) {
    state.start_alltoallv(sendbuf, of_ranks(comm, sendcounts), of_ranks(comm, sdispls), sendtype, recvbuf,
                          of_ranks(comm, recvcounts), of_ranks(comm, rdispls), recvtype, alltoallv_options(strategy));
  });
}

int commpass_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  return start(comm, exchange, [&](StartedAlltoallv::State& state) {
    state.start_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, alltoallv_options(strategy));
  });
}

int commpass_ialltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                        void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                        const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  return start(comm, exchange, [&](StartedAlltoallv::State& state) {
    state.start_alltoallw(sendbuf, {of_ranks(comm, sendcounts), of_ranks(comm, sdispls), of_ranks(comm, sendtypes)},
                          recvbuf, {of_ranks(comm, recvcounts), of_ranks(comm, rdispls), of_ranks(comm, recvtypes)},
                          alltoallv_options(strategy));
  });
}
