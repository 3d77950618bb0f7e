// All-to-alls that are called once, from C.
#include <span>

#include "commpass/commpass.h"
#include "runtime/alltoall/started_alltoallv.hpp"
#include "runtime/c_exchange.hpp"
#include "runtime/c_support.hpp"
#include "runtime/engines.hpp"

namespace {

using commpass::AlltoallCall;
using commpass::CallSide;
using commpass::c::guarded;
using commpass::c::require_communicator;

commpass::AlltoallvOptions alltoallv_options(const char* strategy) { return {strategy ? strategy : "", {}}; }

template <class Item>
std::span<const Item> of(commpass_comm comm, const Item* items) {
  return commpass::c::list(items, commpass::c::ranks_of(comm));
}

int run(const AlltoallCall& call, const char* strategy, commpass_comm comm) {
  return guarded([&] {
    const auto use = require_communicator(comm);
    comm->engines.run(call, alltoallv_options(strategy));
  });
}

int start(const AlltoallCall& call, const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = require_communicator(comm);
    *exchange = commpass::c::make_exchange(
        commpass::start_alltoall(comm->engines.alltoallv, call, alltoallv_options(strategy)));
  });
}

}  // namespace

int commpass_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                       const char* strategy, commpass_comm comm) {
  return run({CallSide::v(sendbuf, of(comm, sendcounts), of(comm, sdispls), sendtype),
              CallSide::v(recvbuf, of(comm, recvcounts), of(comm, rdispls), recvtype)},
             strategy, comm);
}

int commpass_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, const char* strategy, commpass_comm comm) {
  return run({CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype)}, strategy,
             comm);
}

int commpass_alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       const char* strategy, commpass_comm comm) {
  return run({CallSide::w(sendbuf, of(comm, sendcounts), of(comm, sdispls), of(comm, sendtypes)),
              CallSide::w(recvbuf, of(comm, recvcounts), of(comm, rdispls), of(comm, recvtypes))},
             strategy, comm);
}

int commpass_ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                        void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                        const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  return start({CallSide::v(sendbuf, of(comm, sendcounts), of(comm, sdispls), sendtype),
                CallSide::v(recvbuf, of(comm, recvcounts), of(comm, rdispls), recvtype)},
               strategy, comm, exchange);
}

int commpass_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  return start({CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype)}, strategy,
               comm, exchange);
}

int commpass_ialltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                        void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                        const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  return start({CallSide::w(sendbuf, of(comm, sendcounts), of(comm, sdispls), of(comm, sendtypes)),
                CallSide::w(recvbuf, of(comm, recvcounts), of(comm, rdispls), of(comm, recvtypes))},
               strategy, comm, exchange);
}
