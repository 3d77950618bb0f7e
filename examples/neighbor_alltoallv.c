/* MPI_Neighbor_alltoallv, and the planned exchange of Commpass in its place: each rank sends 1 number to the next rank
 * and 2 numbers to the one behind that. Both must receive the same. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include <commpass/commpass.h>

static void check(int code) {
  if (code == COMMPASS_SUCCESS) return;
  fprintf(stderr, "%s\n", commpass_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int to[2] = {(rank + 1) % ranks, (rank + 2) % ranks};
  const int from[2] = {(rank + ranks - 1) % ranks, (rank + 2 * ranks - 2) % ranks};
  const int counts[2] = {1, 2}, displs[2] = {0, 1}; /* of both sides */
  const double out[3] = {rank, rank + 0.25, rank + 0.5};
  double by_mpi[3], in[3];

  /* Before: a graph communicator, and its collective in each step. */
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, counts, 2, to, counts, MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_alltoallv(out, counts, displs, MPI_DOUBLE, by_mpi, counts, displs, MPI_DOUBLE, graph);

  /* After: the same neighbours, counts, offsets and types are given once; each step starts and waits. */
  commpass_comm comm;
  commpass_exchange exchange;
  check(commpass_comm_create(MPI_COMM_WORLD, NULL, &comm)); /* NULL: the profile of this machine */
  check(commpass_neighbor_alltoallv_init(out, 2, to, counts, displs, MPI_DOUBLE, in, 2, from, counts, displs,
                                         MPI_DOUBLE, MPI_INFO_NULL, comm, &exchange));
  for (int step = 0; step < 10; ++step) {
    memset(in, 0, sizeof in);
    check(commpass_start(exchange));
    check(commpass_wait(exchange));
  }
  if (rank == 0) printf("strategy: %s\n", commpass_exchange_strategy(exchange));
  if (memcmp(in, by_mpi, sizeof in) != 0) {
    fprintf(stderr, "rank %d: Commpass received other numbers than MPI\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  check(commpass_exchange_free(&exchange));
  check(commpass_comm_free(&comm));
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
