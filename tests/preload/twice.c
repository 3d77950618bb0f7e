/* A program that knows nothing of Commpass, and whose ranks are neighbours several times: on a distributed graph the
   k-th edge from one rank to another at its source is the k-th at its destination, and on a grid a block that goes down
   comes from above. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { calls = 24, neighbors_max = 64, width = 3 };

static int rank, size, failures;

static void check(const char* what, int is_right) {
  if (is_right) return;
  if (failures++ < 10) fprintf(stderr, "rank %d of %d: %s: other bytes\n", rank, size, what);
}

/* The i-th number of the block that `from` sends to its neighbour at a place. */
static int number(int from, int place, int i, int call) { return 100000 * from + 1000 * place + 10 * call + i; }

/* Block `place` comes from sources[place], where it has the place from_places[place]. */
static void exchange(MPI_Comm comm, const char* where, int in, const int* sources, const int* from_places, int out) {
  static int send[neighbors_max * width], receive[neighbors_max * width];
  static int counts_out[neighbors_max], counts_in[neighbors_max], at_out[neighbors_max], at_in[neighbors_max];
  static MPI_Aint bytes_out[neighbors_max], bytes_in[neighbors_max];
  static MPI_Datatype types_out[neighbors_max], types_in[neighbors_max];
  char what[64];
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int call = 0; call < calls; ++call)
    for (int form = 0; form < 5; ++form) {
      for (int i = 0; i < out; ++i) {
        counts_out[i] = 1 + i % width, at_out[i] = width * (out - 1 - i);
        bytes_out[i] = (MPI_Aint)sizeof(int) * width * (out - 1 - i), types_out[i] = MPI_INT;
        if (counts_out[i] == 2 && form == 2) types_out[i] = pair, counts_out[i] = 1;
      }
      for (int i = 0; i < in; ++i) {
        counts_in[i] = 1 + from_places[i] % width, at_in[i] = width * i;
        bytes_in[i] = (MPI_Aint)sizeof(int) * width * i, types_in[i] = MPI_INT;
      }
      memset(receive, 0x5a, sizeof receive);
      for (int place = 0; place < out; ++place)
        for (int i = 0; i < width; ++i)
          send[(form == 1 || form == 2 ? at_out[place] : width * place) + i] = number(rank, place, i, call);
      if (form > 2)
        for (int i = 0; i < width; ++i) send[i] = number(rank, 0, i, call);
      if (form == 0) MPI_Neighbor_alltoall(send, width, MPI_INT, receive, width, MPI_INT, comm);
      if (form == 1)
        MPI_Neighbor_alltoallv(send, counts_out, at_out, MPI_INT, receive, counts_in, at_in, MPI_INT, comm);
      if (form == 2)
        MPI_Neighbor_alltoallw(send, counts_out, bytes_out, types_out, receive, counts_in, bytes_in, types_in, comm);
      if (form == 3) MPI_Neighbor_allgather(send, width, MPI_INT, receive, width, MPI_INT, comm);
      for (int i = 0; i < in; ++i) counts_in[i] = form == 4 ? width : counts_in[i];
      if (form == 4) MPI_Neighbor_allgatherv(send, width, MPI_INT, receive, counts_in, at_in, MPI_INT, comm);
      snprintf(what, sizeof what, "%s, form %d", where, form);
      for (int place = 0; place < in; ++place)
        for (int i = 0; i < width; ++i) {
          const int is_there = sources[place] != MPI_PROC_NULL && (form == 0 || form > 2 || i < counts_in[place]);
          const int from_place = form > 2 ? 0 : from_places[place];
          check(what,
                receive[width * place + i] == (is_there ? number(sources[place], from_place, i, call) : 0x5a5a5a5a));
        }
    }
  MPI_Type_free(&pair);
}

/* Each rank sends `times` blocks to each rank, itself included: at the source by rank, at the destination turn by turn.
 */
static void graph(int times) {
  int sources[neighbors_max], destinations[neighbors_max], from_places[neighbors_max], weights[neighbors_max];
  const int n = size * times;
  MPI_Comm comm;
  for (int i = 0; i < n; ++i) {
    destinations[i] = i / times, weights[i] = 1;
    sources[i] = i % size;
    from_places[i] = rank * times + i / size;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, sources, weights, n, destinations, weights, MPI_INFO_NULL, 0,
                                 &comm);
  exchange(comm, "graph", n, sources, from_places, n);
  MPI_Comm_free(&comm);
}

/* Periodic, of as many ranks in one dimension as there are, and of one in the other. */
static void grid(void) {
  const int sizes[2] = {size, 1}, are_periodic[2] = {1, 1}, from_places[4] = {1, 0, 3, 2};
  int sources[4];
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, are_periodic, 0, &comm);
  for (int dimension = 0; dimension < 2; ++dimension)
    MPI_Cart_shift(comm, dimension, 1, &sources[2 * dimension], &sources[2 * dimension + 1]);
  exchange(comm, "grid", 4, sources, from_places, 4);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  graph(2);
  graph(3);
  grid();
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures) printf("%d comparisons failed\n", failures);
  if (rank == 0 && !failures) printf("all comparisons hold\n");
  MPI_Finalize();
  return failures != 0;
}
