/* The header in C, beside Open MPI's mpi-ext.h in either order, and handles that MPI_Finalize finds. Both libraries'
 * functions of one name run. */
#ifdef COMMPASS_TEST_EXTENSIONS_FIRST
#include <mpi.h>
/* after it: */
#include <mpi-ext.h>
#endif
#include "mpi_advance.h"
#if defined(OPEN_MPI) && !defined(COMMPASS_TEST_EXTENSIONS_FIRST)
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                 \
    }                                                                               \
  } while (0)

/* As an object that was compiled with another header calls it: by its plain name. */
#ifndef OMPI_HAVE_MPI_EXT_PCOLLREQ
#undef MPIX_Neighbor_alltoallv_init
int MPIX_Neighbor_alltoallv_init(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[],
                                 MPI_Datatype, MPIX_Comm*, MPIX_Info*, MPIX_Request**);
#define PLAIN_COMM(comm) (comm)
#define PLAIN_INFO NULL
#define PLAIN_REQUEST(request) (request)
#else
#undef MPIX_Neighbor_alltoallv_init
#define PLAIN_COMM(comm) ((MPI_Comm)(comm))
#define PLAIN_INFO MPI_INFO_NULL
#define PLAIN_REQUEST(request) ((MPI_Request*)(request))
#endif

int main(int argc, char** argv) {
  MPIX_Comm* comm = NULL;
  MPIX_Request* request = NULL;
  int rank, size, next, before, sent, received = -1;
  const int one = 1, zero = 0;
  CHECK(MPIX_Comm_init(&comm, MPI_COMM_WORLD) == MPI_ERR_OTHER && comm == NULL); /* MPI is not running */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  sent = 100 + rank;
  CHECK(MPIX_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                        MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
  CHECK(commpass_mpix_neighbor_alltoallv_init(&sent, &one, &zero, MPI_INT, &received, &one, &zero, MPI_INT, comm, NULL,
                                              &request) == MPI_SUCCESS);
  CHECK(MPIX_Start(request) == MPI_SUCCESS && MPIX_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(received == 100 + before);
  CHECK(MPIX_Request_free(&request) == MPI_SUCCESS);

  received = -1;
  CHECK(MPIX_Neighbor_alltoallv_init(&sent, &one, &zero, MPI_INT, &received, &one, &zero, MPI_INT, PLAIN_COMM(comm),
                                     PLAIN_INFO, PLAIN_REQUEST(&request)) == MPI_SUCCESS);
  CHECK(MPIX_Start(request) == MPI_SUCCESS && MPIX_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(received == 100 + before);
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
  {
    MPI_Request theirs = MPI_REQUEST_NULL;
    received = -1;
    CHECK(MPIX_Neighbor_alltoallv_init(&sent, &one, &zero, MPI_INT, &received, &one, &zero, MPI_INT,
                                       comm->neighbor_comm, MPI_INFO_NULL, &theirs) == MPI_SUCCESS);
    MPI_Start(&theirs);
    MPI_Wait(&theirs, MPI_STATUS_IGNORE);
    CHECK(received == 100 + before);
    MPI_Request_free(&theirs);
  }
#endif
  MPI_Finalize(); /* with a communicator and a request */
  CHECK(MPIX_Request_free(&request) == MPI_ERR_REQUEST);
  CHECK(MPIX_Comm_free(&comm) == MPI_ERR_COMM);
  CHECK(MPIX_Comm_init(&comm, MPI_COMM_WORLD) == MPI_ERR_OTHER);
  if (rank == 0) printf("all comparisons hold\n");
  return 0;
}
