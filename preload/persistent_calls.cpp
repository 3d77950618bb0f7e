// Persistent collectives, which the MPI library runs in any case: what is written down is how often they are made, and
// not how often they are started.
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

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

#if MPI_VERSION >= 4

int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::alltoall_init, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) { add_equal(sent, recvcount, recvtype); },
      [&] {
        return PMPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
      });
}

int MPI_Alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::alltoallv_init, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        add_counts(sent, comm, in_place_or(sendbuf, Counts{sendcounts, sendtype}, Counts{recvcounts, recvtype}),
                   {recvcounts, recvtype});
      },
      [&] {
        return PMPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                                   info, request);
      });
}

int MPI_Alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::alltoallw_init, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        add_typed(sent, comm,
                  in_place_or(sendbuf, TypedCounts{sendcounts, sendtypes}, TypedCounts{recvcounts, recvtypes}),
                  {recvcounts, recvtypes});
      },
      [&] {
        return PMPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                   comm, info, request);
      });
}

int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_alltoall_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
                                           request);
      });
}

int MPI_Neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                                void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_alltoallv_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_counts(sent, of.neighbors, {sendcounts, sendtype}, recvcounts);
      },
      [&] {
        return PMPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                            recvtype, comm, info, request);
      });
}

int MPI_Neighbor_alltoallw_init(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                                const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_alltoallw_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_typed(sent, of.neighbors, {sendcounts, sendtypes}, recvcounts);
      },
      [&] {
        return PMPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                            recvtypes, comm, info, request);
      });
}

int MPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_allgather_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
                                            request);
      });
}

int MPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_allgatherv_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                                             info, request);
      });
}

#endif

#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ

int MPIX_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::alltoall_init, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) { add_equal(sent, recvcount, recvtype); },
      [&] {
        return PMPIX_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
      });
}

int MPIX_Alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                        void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::alltoallv_init, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        add_counts(sent, comm, in_place_or(sendbuf, Counts{sendcounts, sendtype}, Counts{recvcounts, recvtype}),
                   {recvcounts, recvtype});
      },
      [&] {
        return PMPIX_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                    comm, info, request);
      });
}

int MPIX_Alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                        void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::alltoallw_init, comm,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        add_typed(sent, comm,
                  in_place_or(sendbuf, TypedCounts{sendcounts, sendtypes}, TypedCounts{recvcounts, recvtypes}),
                  {recvcounts, recvtypes});
      },
      [&] {
        return PMPIX_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                    comm, info, request);
      });
}

int MPIX_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_alltoall_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPIX_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
                                            request);
      });
}

int MPIX_Neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                                 void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_alltoallv_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_counts(sent, of.neighbors, {sendcounts, sendtype}, recvcounts);
      },
      [&] {
        return PMPIX_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                             recvtype, comm, info, request);
      });
}

int MPIX_Neighbor_alltoallw_init(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                                 const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                 const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_alltoallw_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_typed(sent, of.neighbors, {sendcounts, sendtypes}, recvcounts);
      },
      [&] {
        return PMPIX_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                             recvtypes, comm, info, request);
      });
}

int MPIX_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_allgather_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPIX_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
                                             request);
      });
}

int MPIX_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
  const CallSite site(__builtin_return_address(0));
  return pass_on(
      InterposedCall::neighbor_allgatherv_init, comm,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
      [&] {
        return PMPIX_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                                              info, request);
      });
}

#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
