// The two functions that mpi_advance.h gives other names, by their own ones: for objects that were compiled with
// another mpi_advance.h.
#include "bindings/mpix/handles.hpp"

#undef MPIX_Neighbor_alltoallv_init
#undef MPIX_Neighbor_alltoallw_init

using namespace commpass::mpix;  // NOLINT(google-build-using-namespace): for C

#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
// Open MPI has functions of these names, too, with its communicators in the place of ours: calls with those go on to
// it.
namespace {

/// Ours; null: it is a communicator of MPI.
MPIX_Comm* ours_of(MPI_Comm comm) {
  auto* const given = reinterpret_cast<MPIX_Comm*>(comm);  // NOLINT: it is never followed before it is found
  return communicators.contains(given) ? given : nullptr;
}

MPIX_Request** place_of(MPI_Request* request) {
  return reinterpret_cast<MPIX_Request**>(request);  // NOLINT: that of a caller with our communicator
}

}  // namespace

int MPIX_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (auto* const ours = ours_of(comm))
    return commpass_mpix_neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                                 recvtype, ours, nullptr, place_of(request));
  return PMPIX_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                       comm, info, request);
}

int MPIX_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  if (auto* const ours = ours_of(comm))
    return commpass_mpix_neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                                 recvtypes, ours, nullptr, place_of(request));
  return PMPIX_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                       comm, info, request);
}
#else
extern "C" {

int MPIX_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPIX_Comm* comm, MPIX_Info* info, MPIX_Request** request) {
  return commpass_mpix_neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                               recvtype, comm, info, request);
}

int MPIX_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPIX_Comm* comm,
                                 MPIX_Info* info, MPIX_Request** request) {
  return commpass_mpix_neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                               recvtypes, comm, info, request);
}
}
#endif
