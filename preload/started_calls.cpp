// Calls that the MPI library runs in any case, and that are written down where that is asked for: those that return
// before the exchange is done, since only calls of ours would move on a request of ours, and a program may wait in any.
#include <mpi.h>

#include "preload/call_blocks.hpp"
#include "preload/call_site.hpp"
#include "preload/takeover.hpp"

namespace {

using commpass::CallSite;
using commpass::Counts;
using commpass::in_place_or;
using commpass::InterposedCall;
using commpass::pass_on;
using commpass::SentBlocks;
using commpass::TakenCommunicator;
using commpass::TypedCounts;

}  // namespace

// MPI's own names, and MPI's own parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int MPI_Neighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                           const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const MPI_Aint* rdispls,
                           const MPI_Datatype* recvtypes, MPI_Comm comm) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_alltoallw, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_typed(sent, of.neighbors, {sendcounts, sendtypes}, recvcounts);
      },
      [&] {
        return PMPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                       comm);
      });
}

int MPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ialltoall, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) { add_equal(sent, recvcount, recvtype); },
      [&] { return PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request); });
}

int MPI_Ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                   const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ialltoallv, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        add_counts(sent, comm, in_place_or(sendbuf, Counts{sendcounts, sendtype}, Counts{recvcounts, recvtype}),
                   {recvcounts, recvtype});
      },
      [&] {
        return PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                               request);
      });
}

int MPI_Ialltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                   void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                   MPI_Comm comm, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ialltoallw, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        add_typed(sent, comm,
                  in_place_or(sendbuf, TypedCounts{sendcounts, sendtypes}, TypedCounts{recvcounts, recvtypes}),
                  {recvcounts, recvtypes});
      },
      [&] {
        return PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                               request);
      });
}

int MPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ineighbor_alltoall, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
      });
}

int MPI_Ineighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                            void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ineighbor_alltoallv, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_counts(sent, of.neighbors, {sendcounts, sendtype}, recvcounts);
      },
      [&] {
        return PMPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                        comm, request);
      });
}

int MPI_Ineighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                            const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                            MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ineighbor_alltoallw, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_typed(sent, of.neighbors, {sendcounts, sendtypes}, recvcounts);
      },
      [&] {
        return PMPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                        recvtypes, comm, request);
      });
}

int MPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ineighbor_allgather, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
      });
}

int MPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::ineighbor_allgatherv, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                                         request);
      });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
