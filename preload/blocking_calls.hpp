// Calls in which all ranks meet, which are taken over. Private to calls.cpp, as started_calls.hpp.

int COMMPASS_TAKEN(Alltoall)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype, void* recvbuf,
                             COMMPASS_COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Alltoall)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  return take_over(
      InterposedCall::alltoall, comm,
      [=] { return use_of(sendbuf, recvbuf, comm, [=](int) { return sendcount > 0 && sendtype == recvtype; }); },
      EqualSends{recvcount, recvtype},
      [=](TakenCommunicator& of) {
        of.engines->run({CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype)},
                        {});
      },
      library);
}

int COMMPASS_TAKEN(Alltoallv)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                              const COMMPASS_DISPLACEMENT* sdispls, MPI_Datatype sendtype, void* recvbuf,
                              const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                              MPI_Datatype recvtype, MPI_Comm comm) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Alltoallv)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                       comm);
  };
  return take_over(
      InterposedCall::alltoallv, comm,
      [=] {
        return use_of(sendbuf, recvbuf, comm, [=](int i) {
          return sendcounts[i] > 0 && recvcounts[i] > 0 && sdispls[i] == rdispls[i] && sendtype == recvtype;
        });
      },
      CountedSends{sendbuf, {sendcounts, sendtype}, {recvcounts, recvtype}, comm},
      [=](TakenCommunicator& of) {
        of.engines->run({CallSide::v(sendbuf, of_ranks(of, sendcounts), of_ranks(of, sdispls), sendtype),
                         CallSide::v(recvbuf, of_ranks(of, recvcounts), of_ranks(of, rdispls), recvtype)},
                        {});
      },
      library);
}

int COMMPASS_TAKEN(Alltoallw)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                              const COMMPASS_DISPLACEMENT* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                              const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                              const MPI_Datatype* recvtypes, MPI_Comm comm) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Alltoallw)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                       comm);
  };
  return take_over(
      InterposedCall::alltoallw, comm,
      [=] {
        return use_of(sendbuf, recvbuf, comm, [=](int i) {
          return sendcounts[i] > 0 && recvcounts[i] > 0 && sdispls[i] == rdispls[i] && sendtypes[i] == recvtypes[i];
        });
      },
      TypedSends{sendbuf, {sendcounts, sendtypes}, {recvcounts, recvtypes}, comm},
      [=](TakenCommunicator& of) {
        of.engines->run(
            {CallSide::w(sendbuf, of_ranks(of, sendcounts), of_ranks(of, sdispls), of_ranks(of, sendtypes)),
             CallSide::w(recvbuf, of_ranks(of, recvcounts), of_ranks(of, rdispls), of_ranks(of, recvtypes))},
            {});
      },
      library);
}

int COMMPASS_TAKEN(Neighbor_alltoall)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, COMMPASS_COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::neighbor_alltoall, comm))
      return MendedCall(*mending, comm)
          .run(sendbuf, equal_places(sendcount), sendtype, recvbuf, equal_places(recvcount), recvtype);
    return COMMPASS_LIBRARY(Neighbor_alltoall)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  return take_over(
      InterposedCall::neighbor_alltoall, comm, NeighborSends{sendcount, sendtype},
      [=](TakenCommunicator& of) {
        NeighborArguments(of, equal_places(sendcount), equal_places(recvcount))
            .run(sendbuf, sendtype, recvbuf, recvtype);
      },
      library);
}

int COMMPASS_TAKEN(Neighbor_alltoallv)(const void* sendbuf, const COMMPASS_COUNT* sendcounts,
                                       const COMMPASS_DISPLACEMENT* sdispls, MPI_Datatype sendtype, void* recvbuf,
                                       const COMMPASS_COUNT* recvcounts, const COMMPASS_DISPLACEMENT* rdispls,
                                       MPI_Datatype recvtype, MPI_Comm comm) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::neighbor_alltoallv, comm))
      return MendedCall(*mending, comm)
          .run(sendbuf, listed_places(sendcounts, sdispls), sendtype, recvbuf, listed_places(recvcounts, rdispls),
               recvtype);
    return COMMPASS_LIBRARY(Neighbor_alltoallv)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                                recvtype, comm);
  };
  return take_over(
      InterposedCall::neighbor_alltoallv, comm, NeighborCountedSends{{sendcounts, sendtype}, recvcounts},
      [=](TakenCommunicator& of) {
        NeighborArguments(of, listed_places(sendcounts, sdispls), listed_places(recvcounts, rdispls))
            .run(sendbuf, sendtype, recvbuf, recvtype);
      },
      library);
}

int COMMPASS_TAKEN(Neighbor_alltoallw)(const void* sendbuf, const COMMPASS_COUNT* sendcounts, const MPI_Aint* sdispls,
                                       const MPI_Datatype* sendtypes, void* recvbuf, const COMMPASS_COUNT* recvcounts,
                                       const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  const auto library = [=] {
    if (const auto* const mending = mending_of(InterposedCall::neighbor_alltoallw, comm))
      return MendedCall(*mending, comm)
          .run_typed(sendbuf, listed_places(sendcounts, sdispls), listed_types(sendtypes), recvbuf,
                     listed_places(recvcounts, rdispls), listed_types(recvtypes));
    return COMMPASS_LIBRARY(Neighbor_alltoallw)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                                recvtypes, comm);
  };
  return take_over(
      InterposedCall::neighbor_alltoallw, comm, NeighborTypedSends{{sendcounts, sendtypes}, recvcounts},
      [=](TakenCommunicator& of) {
        NeighborArguments(of, listed_places(sendcounts, sdispls), listed_places(recvcounts, rdispls))
            .run(sendbuf, sendtypes, recvbuf, recvtypes);
      },
      library);
}

int COMMPASS_TAKEN(Neighbor_allgather)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, COMMPASS_COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Neighbor_allgather)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  return take_over(
      InterposedCall::neighbor_allgather, comm, NeighborSends{sendcount, sendtype},
      [=](TakenCommunicator& of) {
        NeighborArguments(of, same_places(sendcount), equal_places(recvcount))
            .run(sendbuf, sendtype, recvbuf, recvtype);
      },
      library);
}

int COMMPASS_TAKEN(Neighbor_allgatherv)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, const COMMPASS_COUNT* recvcounts,
                                        const COMMPASS_DISPLACEMENT* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto library = [=] {
    return COMMPASS_LIBRARY(Neighbor_allgatherv)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                                 comm);
  };
  return take_over(
      InterposedCall::neighbor_allgatherv, comm, NeighborSends{sendcount, sendtype},
      [=](TakenCommunicator& of) {
        NeighborArguments(of, same_places(sendcount), listed_places(recvcounts, displs))
            .run(sendbuf, sendtype, recvbuf, recvtype);
      },
      library);
}
