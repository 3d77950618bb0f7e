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
using commpass::Engines;
using commpass::c::guarded;
using commpass::c::require_engines;

const commpass::AlltoallvOptions none;

/// Calls action(engines, options), and keeps its error.
template <class Action>
int with_options(const char* strategy, commpass_comm comm, Action action) {
  return guarded([&] {
    auto& engines = require_engines(comm);
    if (strategy && *strategy) action(engines, commpass::AlltoallvOptions{strategy, {}});
    else action(engines, none);
  });
}

template <class Item>
std::span<const Item> of(commpass_comm comm, const Item* items) {
  return commpass::c::list(items, commpass::c::ranks_of(comm));
}

int start(const AlltoallCall& call, const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  *exchange = nullptr;
  return with_options(strategy, comm, [&](Engines& engines, const auto& options) {
    const auto use = engines.caller.use();
    *exchange = commpass::c::make_exchange(commpass::start_alltoall(engines.alltoallv, call, options));
  });
}

}  // namespace

int commpass_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                       const char* strategy, commpass_comm comm) {
  return with_options(strategy, comm, [=](Engines& engines, const auto& options) {
    engines.alltoallv_once(sendbuf, of(comm, sendcounts), of(comm, sdispls), sendtype, recvbuf, of(comm, recvcounts),
                           of(comm, rdispls), recvtype, options);
  });
}

int commpass_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, const char* strategy, commpass_comm comm) {
  return with_options(strategy, comm, [=](Engines& engines, const auto& options) {
    engines.alltoall_once(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, options);
  });
}

int commpass_alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       const char* strategy, commpass_comm comm) {
  return with_options(strategy, comm, [=](Engines& engines, const auto& options) {
    engines.run({CallSide::w(sendbuf, of(comm, sendcounts), of(comm, sdispls), of(comm, sendtypes)),
                 CallSide::w(recvbuf, of(comm, recvcounts), of(comm, rdispls), of(comm, recvtypes))},
                options);
  });
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
