// Calls that return before the exchange is done. The MPI library runs them in any case, since only calls of ours would
// move on a request of ours, and a program may wait in any. Private to calls.cpp, which says what the macros are and
// includes this for each kind of counts: there is no guard.

int COMMPASS_TAKEN(Ialltoall)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf,
                              COMMPASS_COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Ialltoall)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  };
  return pass_on(InterposedCall::ialltoall, comm, EqualSends{recvcount, recvtype}, library);
}

int COMMPASS_TAKEN(Ialltoallv)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                               const COMMPASS_DISPLACEMENT* sdispls, MPI_Datatype sendtype, void* recvbuf,
                               const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Ialltoallv)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                        comm, request);
  };
  return pass_on(InterposedCall::ialltoallv, comm,
                 CountedSends{sendbuf, {sendcounts, sendtype}, {recvcounts, recvtype}, comm}, library);
}

int COMMPASS_TAKEN(Ialltoallw)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                               const COMMPASS_DISPLACEMENT* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                               const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                               const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Ialltoallw)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                        recvtypes, comm, request);
  };
  return pass_on(InterposedCall::ialltoallw, comm,
                 TypedSends{sendbuf, {sendcounts, sendtypes}, {recvcounts, recvtypes}, comm}, library);
}

int COMMPASS_TAKEN(Ineighbor_alltoall)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, COMMPASS_COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                       MPI_Request* request) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::ineighbor_alltoall, comm))
      return MendedCall(*mending, comm, request)
          .run(sendbuf, equal_places(sendcount), sendtype, recvbuf, equal_places(recvcount), recvtype);
    return COMMPASS_LIBRARY(Ineighbor_alltoall)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                                request);
  };
  return pass_on(InterposedCall::ineighbor_alltoall, comm, NeighborSends{sendcount, sendtype}, library);
}

int COMMPASS_TAKEN(Ineighbor_alltoallv)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                                        const COMMPASS_DISPLACEMENT* sdispls, MPI_Datatype sendtype, void* recvbuf,
                                        const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::ineighbor_alltoallv, comm))
      return MendedCall(*mending, comm, request)
          .run(sendbuf, listed_places(sendcounts, sdispls), sendtype, recvbuf, listed_places(recvcounts, rdispls),
               recvtype);
    return COMMPASS_LIBRARY(Ineighbor_alltoallv)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                                 recvtype, comm, request);
  };
  return pass_on(InterposedCall::ineighbor_alltoallv, comm, NeighborCountedSends{{sendcounts, sendtype}, recvcounts},
                 library);
}

int COMMPASS_TAKEN(Ineighbor_alltoallw)(const void* sendbuf, const COMMPASS_COUNT* sendcounts, const MPI_Aint* sdispls,
                                        const MPI_Datatype* sendtypes, void* recvbuf, const COMMPASS_COUNT* recvcounts,
                                        const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                        MPI_Request* request) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::ineighbor_alltoallw, comm))
      return MendedCall(*mending, comm, request)
          .run_typed(sendbuf, listed_places(sendcounts, sdispls), listed_types(sendtypes), recvbuf,
                     listed_places(recvcounts, rdispls), listed_types(recvtypes));
    return COMMPASS_LIBRARY(Ineighbor_alltoallw)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                                 recvtypes, comm, request);
  };
  return pass_on(InterposedCall::ineighbor_alltoallw, comm, NeighborTypedSends{{sendcounts, sendtypes}, recvcounts},
                 library);
}

int COMMPASS_TAKEN(Ineighbor_allgather)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, COMMPASS_COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                        MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Ineighbor_allgather)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                                 request);
  };
  return pass_on(InterposedCall::ineighbor_allgather, comm, NeighborSends{sendcount, sendtype}, library);
}

int COMMPASS_TAKEN(Ineighbor_allgatherv)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                         void* recvbuf, const COMMPASS_COUNT* recvcounts,
                                         const COMMPASS_DISPLACEMENT* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                         MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Ineighbor_allgatherv)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                                  comm, request);
  };
  return pass_on(InterposedCall::ineighbor_allgatherv, comm, NeighborSends{sendcount, sendtype}, library);
}
