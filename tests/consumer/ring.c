/* The C interface, used from outside: a number goes around a ring. */
#include <commpass/commpass.h>
#include <mpi.h>
#include <stdio.h>

static int failed(int code) {
  if (code != COMMPASS_SUCCESS) fprintf(stderr, "%s\n", commpass_error_text());
  return code != COMMPASS_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, one = 1, zero = 0;
  int in = -1;
  commpass_comm comm;
  commpass_exchange ring = NULL;
  bad = failed(commpass_comm_create(MPI_COMM_WORLD, argc > 1 ? argv[1] : NULL, &comm));
  if (!bad)
    bad = failed(commpass_neighbor_alltoallv_init(&rank, 1, &next, &one, &zero, MPI_INT, &in, 1, &previous, &one, &zero,
                                                  MPI_INT, MPI_INFO_NULL, comm, &ring));
  if (!bad) bad = failed(commpass_start(ring)) || failed(commpass_wait(ring)) || in != previous;
  if (!bad && rank == 0) printf("Commpass %s: %s", commpass_version(), commpass_exchange_explanation(ring));
  commpass_exchange_free(&ring);
  commpass_comm_free(&comm);
  MPI_Finalize();
  return bad;
}
