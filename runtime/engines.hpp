// The state of a communicator of Commpass, in C++ and in C: its context, and the engines of unplanned exchanges.
#pragma once

#include <memory>

#include "runtime/alltoall/alltoallv_engine.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/one_thread.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

/// Made at once, because it is collective, and a first sparse exchange must not wait for others. Destroyed in this
/// order's opposite, with the exchanges that keep a part of it: so communicators are freed in the same order on ranks
/// that drop their handles in different ones.
struct Engines {
  std::shared_ptr<Context> context;
  std::shared_ptr<SparseEngine> sparse;
  std::shared_ptr<AlltoallvEngine> alltoallv;
  OneThread caller{};  ///< in each function of a communicator

  /// Collective.
  explicit Engines(std::shared_ptr<Context> of)
      : context(std::move(of)),
        sparse(std::make_shared<SparseEngine>(context)),
        alltoallv(std::make_shared<AlltoallvEngine>(context, sparse)) {}

  // An all-to-all that is called once. Collective.
  void run(const AlltoallCall& call, const AlltoallvOptions& options) {
    const auto use = caller.use();
    alltoallv->run(call, options);
  }
  void alltoall_once(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, const AlltoallvOptions& options) {
    const auto use = caller.use();
    if (!alltoallv->run_settled(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, options))
      run({CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype)}, options);
  }
  void alltoallv_once(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                      MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                      std::span<const int> rdispls, MPI_Datatype recvtype, const AlltoallvOptions& options) {
    const auto use = caller.use();
    if (!alltoallv->run_settled(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                options))
      run({CallSide::v(sendbuf, sendcounts, sdispls, sendtype), CallSide::v(recvbuf, recvcounts, rdispls, recvtype)},
          options);
  }
};

}  // namespace commpass
