// Persistent collectives. The MPI library makes them, and their exchanges are run by it or by ours. A record has how
// often they are made, and not how often they are started. Private to calls.cpp, as started_calls.hpp.

int COMMPASS_TAKEN(Alltoall_init)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  COMMPASS_COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Alltoall_init)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info,
                                           request);
  };
  return pass_on_and_plan(
      InterposedCall::alltoall_init, comm, sendbuf, recvbuf, request, EqualSends{recvcount, recvtype},
      blocks_of(sendbuf, equal_places(sendcount), sendtype, recvbuf, equal_places(recvcount), recvtype), library);
}

int COMMPASS_TAKEN(Alltoallv_init)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                                   const COMMPASS_DISPLACEMENT* sdispls, MPI_Datatype sendtype, void* recvbuf,
                                   const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Alltoallv_init)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                            recvtype, comm, info, request);
  };
  return pass_on_and_plan(InterposedCall::alltoallv_init, comm, sendbuf, recvbuf, request,
                          CountedSends{sendbuf, {sendcounts, sendtype}, {recvcounts, recvtype}, comm},
                          blocks_of(sendbuf, listed_places(sendcounts, sdispls), sendtype, recvbuf,
                                    listed_places(recvcounts, rdispls), recvtype),
                          library);
}

int COMMPASS_TAKEN(Alltoallw_init)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                                   const COMMPASS_DISPLACEMENT* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                                   const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                                   const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Alltoallw_init)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                            recvtypes, comm, info, request);
  };
  return pass_on_and_plan(InterposedCall::alltoallw_init, comm, sendbuf, recvbuf, request,
                          TypedSends{sendbuf, {sendcounts, sendtypes}, {recvcounts, recvtypes}, comm},
                          typed_blocks(sendbuf, listed_places(sendcounts, sdispls), listed_types(sendtypes), recvbuf,
                                       listed_places(recvcounts, rdispls), listed_types(recvtypes)),
                          library);
}

int COMMPASS_TAKEN(Neighbor_alltoall_init)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, COMMPASS_COUNT recvcount, MPI_Datatype recvtype,
                                           MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::neighbor_alltoall_init, comm))
      return MendedCall(*mending, comm, info, request)
          .run(sendbuf, equal_places(sendcount), sendtype, recvbuf, equal_places(recvcount), recvtype);
    return COMMPASS_LIBRARY(Neighbor_alltoall_init)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                                    info, request);
  };
  return pass_on_and_plan(
      InterposedCall::neighbor_alltoall_init, comm, sendbuf, recvbuf, request, NeighborSends{sendcount, sendtype},
      blocks_of(sendbuf, equal_places(sendcount), sendtype, recvbuf, equal_places(recvcount), recvtype), library);
}

int COMMPASS_TAKEN(Neighbor_alltoallv_init)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                                            const COMMPASS_DISPLACEMENT* sdispls, MPI_Datatype sendtype, void* recvbuf,
                                            const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::neighbor_alltoallv_init, comm))
      return MendedCall(*mending, comm, info, request)
          .run(sendbuf, listed_places(sendcounts, sdispls), sendtype, recvbuf, listed_places(recvcounts, rdispls),
               recvtype);
    return COMMPASS_LIBRARY(Neighbor_alltoallv_init)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                                     rdispls, recvtype, comm, info, request);
  };
  return pass_on_and_plan(InterposedCall::neighbor_alltoallv_init, comm, sendbuf, recvbuf, request,
                          NeighborCountedSends{{sendcounts, sendtype}, recvcounts},
                          blocks_of(sendbuf, listed_places(sendcounts, sdispls), sendtype, recvbuf,
                                    listed_places(recvcounts, rdispls), recvtype),
                          library);
}

int COMMPASS_TAKEN(Neighbor_alltoallw_init)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                                            const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                                            const COMMPASS_COUNT* recvcounts, const MPI_Aint* rdispls,
                                            const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                            MPI_Request* request) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::neighbor_alltoallw_init, comm))
      return MendedCall(*mending, comm, info, request)
          .run_typed(sendbuf, listed_places(sendcounts, sdispls), listed_types(sendtypes), recvbuf,
                     listed_places(recvcounts, rdispls), listed_types(recvtypes));
    return COMMPASS_LIBRARY(Neighbor_alltoallw_init)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                                     rdispls, recvtypes, comm, info, request);
  };
  return pass_on_and_plan(InterposedCall::neighbor_alltoallw_init, comm, sendbuf, recvbuf, request,
                          NeighborTypedSends{{sendcounts, sendtypes}, recvcounts},
                          typed_blocks(sendbuf, listed_places(sendcounts, sdispls), listed_types(sendtypes), recvbuf,
                                       listed_places(recvcounts, rdispls), listed_types(recvtypes)),
                          library);
}

int COMMPASS_TAKEN(Neighbor_allgather_init)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, COMMPASS_COUNT recvcount, MPI_Datatype recvtype,
                                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Neighbor_allgather_init)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                                     info, request);
  };
  return pass_on_and_plan(
      InterposedCall::neighbor_allgather_init, comm, sendbuf, recvbuf, request, NeighborSends{sendcount, sendtype},
      blocks_of(sendbuf, same_places(sendcount), sendtype, recvbuf, equal_places(recvcount), recvtype), library);
}

int COMMPASS_TAKEN(Neighbor_allgatherv_init)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, const COMMPASS_COUNT* recvcounts,
                                             const COMMPASS_DISPLACEMENT* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                             MPI_Info info, MPI_Request* request) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Neighbor_allgatherv_init)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                                      recvtype, comm, info, request);
  };
  return pass_on_and_plan(
      InterposedCall::neighbor_allgatherv_init, comm, sendbuf, recvbuf, request, NeighborSends{sendcount, sendtype},
      blocks_of(sendbuf, same_places(sendcount), sendtype, recvbuf, listed_places(recvcounts, displs), recvtype),
      library);
}
