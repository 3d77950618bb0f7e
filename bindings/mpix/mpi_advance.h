/* MPI Advance's names on Commpass: for programs that are written for them. Link with libcommpass-mpix (docs/mpix.md).
 *
 *   MPIX_Comm* comm;
 *   MPIX_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, sources, MPI_UNWEIGHTED, outdegree, destinations,
 *                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
 *   MPIX_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, MPI_DOUBLE, recvbuf, recvcounts, rdispls, MPI_DOUBLE,
 *                                comm, NULL, &request);
 *   for (…) { MPIX_Start(request); MPIX_Wait(request, MPI_STATUS_IGNORE); }
 *   MPIX_Request_free(&request);
 *   MPIX_Comm_free(&comm);
 *
 * Functions return MPI_SUCCESS or an error class of MPI, and print one line on stderr for an error. All but those for
 * info, topologies, memory, tags, start and wait are collective. */
#ifndef MPI_ADVANCE_H
#define MPI_ADVANCE_H

#include <mpi.h>

/* Open MPI has two functions of the same names for other arguments. Its declarations come first, so that ours, which
 * the linker knows by other names, do not meet them. */
#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif
#define MPIX_Neighbor_alltoallv_init commpass_mpix_neighbor_alltoallv_init
#define MPIX_Neighbor_alltoallw_init commpass_mpix_neighbor_alltoallw_init

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _MPIX_Comm {
  MPI_Comm global_comm;   /* the program's */
  MPI_Comm neighbor_comm; /* of MPIX_Dist_graph_create_adjacent, else MPI_COMM_NULL */
  /* Of MPIX_Comm_topo_init, before it MPI_COMM_NULL and 0: */
  MPI_Comm local_comm; /* the ranks of this node */
  MPI_Comm group_comm; /* the ranks of all nodes with this rank in local_comm */
  int num_nodes, rank_node, ppn;
} MPIX_Comm;

typedef struct _MPIX_Request {
  int reorder; /* has no effect */
} MPIX_Request;

typedef struct _MPIX_Info {
  int crs_num_initialized, crs_size_initialized; /* have no effect */
} MPIX_Info;

typedef struct _MPIX_Topo MPIX_Topo;

/* On failure handles are NULL. MPIX_…_free sets them to NULL. All that is there at MPI_Finalize is freed then. */
int MPIX_Comm_init(MPIX_Comm** comm, MPI_Comm global_comm);
int MPIX_Comm_free(MPIX_Comm** comm);
int MPIX_Comm_topo_init(MPIX_Comm* comm);
int MPIX_Comm_topo_free(MPIX_Comm* comm);
/* Sets *tag to a further number each time, from 0 up. */
int MPIX_Comm_tag(MPIX_Comm* comm, int* tag);
/* These have no effect: Commpass chooses strategies by predicted times, and finds devices and memory by itself. */
int MPIX_Comm_leader_init(MPIX_Comm* comm, int procs_per_leader);
int MPIX_Comm_leader_free(MPIX_Comm* comm);
int MPIX_Comm_device_init(MPIX_Comm* comm);
int MPIX_Comm_device_free(MPIX_Comm* comm);
int MPIX_Comm_req_resize(MPIX_Comm* comm, int requests);

int MPIX_Info_init(MPIX_Info** info);
int MPIX_Info_free(MPIX_Info** info);

/* Memory as MPIX_Alltoall_crs and MPIX_Alltoallv_crs return it; of 0 bytes NULL. */
int MPIX_Alloc(void** memory, int bytes);
int MPIX_Free(void* memory);

/* Neighbours are ranks of comm_old or of the communicator's global_comm; a rank may be one several times. Weights, info
 * and reorder are not used. */
int MPIX_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int* sourceweights,
                                    int outdegree, const int destinations[], const int* destweights, MPI_Info info,
                                    int reorder, MPIX_Comm** comm);
int MPIX_Topo_init(int indegree, const int sources[], const int* sourceweights, int outdegree, const int destinations[],
                   const int* destweights, MPIX_Info* info, MPIX_Topo** topo);
int MPIX_Topo_from_neighbor_comm(MPIX_Comm* comm, MPIX_Topo** topo);
int MPIX_Topo_free(MPIX_Topo** topo);

/* As MPI_Alltoall and MPI_Alltoallv, MPI_IN_PLACE among their arguments. */
int MPIX_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPIX_Comm* comm);
int MPIX_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* comm);

/* Sparse dynamic data exchanges (Geyko et al.): each rank names its messages and gets those for it, by source. The
 * arrays that they return are freed by MPIX_Free. send_size and info are not used. */
int MPIX_Alltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype, const void* sendvals,
                      int* recv_nnz, int** src, int recvcount, MPI_Datatype recvtype, void** recvvals, MPIX_Info* info,
                      MPIX_Comm* comm);
int MPIX_Alltoallv_crs(int send_nnz, int send_size, const int* dest, const int* sendcounts, const int* sdispls,
                       MPI_Datatype sendtype, const void* sendvals, int* recv_nnz, int* recv_size, int** src,
                       int** recvcounts, int** rdispls, MPI_Datatype recvtype, void** recvvals, MPIX_Info* info,
                       MPIX_Comm* comm);

/* Exchanges with neighbours: those of the communicator (MPIX_Dist_graph_create_adjacent), or of a topology. Global
 * indices and info are not used: all functions of a kind run the strategy that Commpass chooses. */
int MPIX_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPIX_Comm* comm);
int MPIX_Neighbor_topo_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPIX_Topo* topo, MPIX_Comm* comm);
int MPIX_Neighbor_locality_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                     const long global_sindices[], MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int rdispls[], const long global_rindices[],
                                     MPI_Datatype recvtype, MPIX_Comm* comm);
int MPIX_Neighbor_part_locality_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                          MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                          const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* comm);
int MPIX_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPIX_Comm* comm);

/* Plan one that is started many times. Buffers and datatypes must outlive the request. */
int MPIX_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPIX_Comm* comm, MPIX_Info* info, MPIX_Request** request);
int MPIX_Neighbor_topo_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                      MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPIX_Topo* topo, MPIX_Comm* comm, MPIX_Info* info,
                                      MPIX_Request** request);
int MPIX_Neighbor_locality_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                          const long global_sindices[], MPI_Datatype sendtype, void* recvbuf,
                                          const int recvcounts[], const int rdispls[], const long global_rindices[],
                                          MPI_Datatype recvtype, MPIX_Comm* comm, MPIX_Info* info,
                                          MPIX_Request** request);
int MPIX_Neighbor_locality_topo_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                               const long global_sindices[], MPI_Datatype sendtype, void* recvbuf,
                                               const int recvcounts[], const int rdispls[],
                                               const long global_rindices[], MPI_Datatype recvtype, MPIX_Topo* topo,
                                               MPIX_Comm* comm, MPIX_Info* info, MPIX_Request** request);
int MPIX_Neighbor_part_locality_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                               const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* comm,
                                               MPIX_Info* info, MPIX_Request** request);
int MPIX_Neighbor_part_locality_topo_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                                    const int rdispls[], MPI_Datatype recvtype, MPIX_Topo* topo,
                                                    MPIX_Comm* comm, MPIX_Info* info, MPIX_Request** request);
int MPIX_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPIX_Comm* comm,
                                 MPIX_Info* info, MPIX_Request** request);

int MPIX_Start(MPIX_Request* request);
/* status is empty, as after MPI_Wait of an inactive request. */
int MPIX_Wait(MPIX_Request* request, MPI_Status* status);
/* Completes an exchange in flight. */
int MPIX_Request_free(MPIX_Request** request);

#ifdef __cplusplus
}

#include <type_traits>

/* Earlier forms, for programs in C++: handles are freed without their address, and info is MPI's. */
inline int MPIX_Comm_free(MPIX_Comm* comm) { return MPIX_Comm_free(&comm); }
inline int MPIX_Topo_free(MPIX_Topo* topo) { return MPIX_Topo_free(&topo); }
inline int MPIX_Request_free(MPIX_Request* request) { return MPIX_Request_free(&request); }

template <class Info>
using MPIX_Request_of_info = typename std::enable_if<std::is_same<Info, MPI_Info>::value, MPIX_Request>::type;

template <class Info>
int MPIX_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPIX_Comm* comm, Info, MPIX_Request_of_info<Info>** request) {
  return MPIX_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                      comm, static_cast<MPIX_Info*>(nullptr), request);
}
template <class Info>
int MPIX_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPIX_Comm* comm, Info,
                                 MPIX_Request_of_info<Info>** request) {
  return MPIX_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                      comm, static_cast<MPIX_Info*>(nullptr), request);
}
template <class Info>
int MPIX_Neighbor_locality_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                          const long global_sindices[], MPI_Datatype sendtype, void* recvbuf,
                                          const int recvcounts[], const int rdispls[], const long global_rindices[],
                                          MPI_Datatype recvtype, MPIX_Comm* comm, Info,
                                          MPIX_Request_of_info<Info>** request) {
  return MPIX_Neighbor_locality_alltoallv_init(sendbuf, sendcounts, sdispls, global_sindices, sendtype, recvbuf,
                                               recvcounts, rdispls, global_rindices, recvtype, comm,
                                               static_cast<MPIX_Info*>(nullptr), request);
}
template <class Info>
int MPIX_Neighbor_part_locality_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                               const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* comm, Info,
                                               MPIX_Request_of_info<Info>** request) {
  return MPIX_Neighbor_part_locality_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                                    rdispls, recvtype, comm, static_cast<MPIX_Info*>(nullptr), request);
}
#endif

#endif
