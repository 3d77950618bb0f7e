/* Exchanges that are known, for records to be compared with. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum {
  equal_calls = 3,
  ring_calls = 70,
  random_calls = 100,
  late_calls = 3,
  half_calls = 4,
  copy_calls = 17,
  started_calls = 5,
  short_lived = 40,
  short_calls = 3,
  full_log_calls = 66,
  late_ms = 100
};

static int rank, size;
/* MPICH has an address without memory here; g++ 12 warns where it knows the value. */
static MPI_Status* volatile const ignored_statuses = MPI_STATUSES_IGNORE;

static void send_on(MPI_Comm comm, int bytes) {
  int me, n;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  int *counts = calloc((size_t)n, sizeof(int)), *expected = calloc((size_t)n, sizeof(int));
  int* places = calloc((size_t)n, sizeof(int));
  char *send = calloc((size_t)bytes + 1, 1), *receive = calloc((size_t)bytes + 1, 1);
  counts[(me + 1) % n] = bytes;
  expected[(me + n - 1) % n] = bytes;
  MPI_Alltoallv(send, counts, places, MPI_CHAR, receive, expected, places, MPI_CHAR, comm);
  free(counts), free(expected), free(places), free(send), free(receive);
}

/* To the next rank as many bytes as told, and nothing to others; from one place, since a volatile pointer is not
 * inlined. */
static void (*volatile const to_the_next)(MPI_Comm, int) = send_on;

static void equal(MPI_Comm comm, int numbers, int is_late) {
  int* send = calloc((size_t)(size * numbers), sizeof(int));
  int* receive = calloc((size_t)(size * numbers), sizeof(int));
  if (is_late) {
    const struct timespec pause = {0, late_ms * 1000000L};
    nanosleep(&pause, NULL);
  }
  MPI_Alltoall(send, numbers, MPI_INT, receive, numbers, MPI_INT, comm);
  free(send), free(receive);
}

static void start(MPI_Comm comm, int calls) {
  char *send = calloc((size_t)size, 1), *receive = calloc((size_t)(size * calls), 1);
  MPI_Request requests[full_log_calls];
  for (int i = 0; i < calls; ++i) MPI_Ialltoall(send, 1, MPI_CHAR, receive + i * size, 1, MPI_CHAR, comm, &requests[i]);
  MPI_Waitall(calls, requests, ignored_statuses);
  free(send), free(receive);
}

/* An attribute that must not be copied any more when the program is done. */
static int is_done;
static int copy_attribute(MPI_Comm comm, int key, void* state, void* value, void* copy, int* is_copied) {
  (void)comm, (void)key, (void)state, (void)value, (void)copy;
  if (is_done) _Exit(9);
  *is_copied = 0;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < equal_calls; ++i) equal(MPI_COMM_WORLD, 2, 0);
  for (int i = 0; i < late_calls; ++i) equal(MPI_COMM_WORLD, 5, rank == 0);

  MPI_Comm ring;
  const int after = (rank + 1) % size, before = (rank + size - 1) % size, weight = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &after, &weight, MPI_INFO_NULL, 0, &ring);
  double out = 0, in = 0;
  for (int i = 0; i < ring_calls; ++i) MPI_Neighbor_alltoall(&out, 1, MPI_DOUBLE, &in, 1, MPI_DOUBLE, ring);
  MPI_Comm_free(&ring);

  /* Calls that only start an exchange. */
  int* numbers = calloc((size_t)size * 2, sizeof(int));
  for (int i = 0; i < started_calls; ++i) {
    MPI_Request request;
    MPI_Ialltoall(numbers, 1, MPI_INT, numbers + size, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(numbers);

  /* Many of them, and a call that blocks, which must be recorded all the same. */
  MPI_Comm flooded;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &flooded);
  for (int step = 0; step < 2; ++step) {
    start(flooded, full_log_calls);
    equal(flooded, 1, 0);
  }

  /* Ever new duplicates, of which each is used for few calls. */
  for (int i = 0; i < short_lived; ++i) {
    MPI_Comm duplicate;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    for (int call = 0; call < short_calls; ++call) equal(duplicate, 3, 0);
    MPI_Comm_free(&duplicate);
  }

  /* Freed in different orders, as collectors of garbage do. */
  MPI_Comm freed[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &freed[i]);
    start(freed[i], 1);
  }
  MPI_Comm_free(&freed[rank % 2]);
  MPI_Comm_free(&freed[1 - rank % 2]);

  /* An error that the program deals with. */
  MPI_Comm wrong;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &wrong);
  MPI_Comm_set_errhandler(wrong, MPI_ERRORS_RETURN);
  if (MPI_Alltoall(NULL, -1, MPI_INT, NULL, -1, MPI_INT, wrong) == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 8);

  /* No two of them are alike. */
  for (int i = 0; i < random_calls; ++i) to_the_next(MPI_COMM_WORLD, 100 + i);

  /* Two halves that exchange at the same time; they are never freed. */
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (int i = 0; i < half_calls; ++i) to_the_next(half, 1000);
  /* A communicator that goes by a name that libcommpass-mpi does not intercept. */
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < copy_calls; ++i) to_the_next(copy, 7);
  PMPI_Comm_free(&copy);

  int key;
  MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  is_done = 1;
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
