// A stand-in for an MPI library that takes device memory: it finds the bytes of emulated devices.
#include <mpi.h>

#include <vector>

#include "runtime/device/emulated_device.hpp"

namespace {

const void* inside(const void* buffer) { return commpass::test::EmulatedDevices::get().inside(buffer); }
void* inside(void* buffer) { return commpass::test::EmulatedDevices::get().inside(buffer); }

/// Places that count from MPI_BOTTOM.
std::vector<MPI_Aint> places_inside(const MPI_Aint* places, int count) {
  std::vector<MPI_Aint> result(places, places + count);
  for (auto& place : result)
    place = reinterpret_cast<MPI_Aint>(inside(reinterpret_cast<const void*>(place)));  // NOLINT
  return result;
}

/// Kept until the program ends: the library reads them as long as the exchange lives.
const MPI_Aint* kept(std::vector<MPI_Aint> places) {
  static std::vector<std::vector<MPI_Aint>> all;
  return all.emplace_back(std::move(places)).data();
}

struct Degrees {
  int in = 0, out = 0;
  explicit Degrees(MPI_Comm comm) {
    int weighted = 0;
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  }
};

}  // namespace

// MPI's own names, and MPI's own parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int MPIX_Query_cuda_support() { return 1; }

int MPI_Send_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return PMPI_Send_init(inside(buf), count, type, dest, tag, comm, request);
}
int MPI_Recv_init(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return PMPI_Recv_init(inside(buf), count, type, source, tag, comm, request);
}
int MPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  return PMPI_Isend(inside(buf), count, type, dest, tag, comm, request);
}
int MPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return PMPI_Irecv(inside(buf), count, type, source, tag, comm, request);
}
int MPI_Ineighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                            const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                            MPI_Request* request) {
  const Degrees degrees(comm);
  return PMPI_Ineighbor_alltoallw(sendbuf, sendcounts, kept(places_inside(sdispls, degrees.out)), sendtypes, recvbuf,
                                  recvcounts, kept(places_inside(rdispls, degrees.in)), recvtypes, comm, request);
}
int MPI_Alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                  const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  return PMPI_Alltoallv(inside(sendbuf), sendcounts, sdispls, sendtype, inside(recvbuf), recvcounts, rdispls, recvtype,
                        comm);
}
int MPI_Ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                   const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request* request) {
  return PMPI_Ialltoallv(inside(sendbuf), sendcounts, sdispls, sendtype, inside(recvbuf), recvcounts, rdispls, recvtype,
                         comm, request);
}
int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
  return PMPI_Alltoall(inside(sendbuf), sendcount, sendtype, inside(recvbuf), recvcount, recvtype, comm);
}
int MPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return PMPI_Ialltoall(inside(sendbuf), sendcount, sendtype, inside(recvbuf), recvcount, recvtype, comm, request);
}

#if MPI_VERSION >= 4
int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  return PMPI_Alltoall_c(inside(sendbuf), sendcount, sendtype, inside(recvbuf), recvcount, recvtype, comm);
}
int MPI_Ialltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                     void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request* request) {
  return PMPI_Ialltoallv_c(inside(sendbuf), sendcounts, sdispls, sendtype, inside(recvbuf), recvcounts, rdispls,
                           recvtype, comm, request);
}
int MPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                  MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                  const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  const Degrees degrees(comm);
  return PMPI_Neighbor_alltoallv_init_c(sendbuf, sendcounts, kept(places_inside(sdispls, degrees.out)), sendtype,
                                        recvbuf, recvcounts, kept(places_inside(rdispls, degrees.in)), recvtype, comm,
                                        info, request);
}
#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
