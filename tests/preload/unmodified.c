/* A program that knows nothing of Commpass: calls collectives of MPI in many ways, and compares the received bytes with
   those of the same calls by MPI's other name for them, which is not intercepted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_elements = 40, calls = 12 };

static int failures = 0;
static int rank, size;

static void compare(const char* what, const void* got, const void* expected, size_t bytes) {
  if (memcmp(got, expected, bytes) == 0) return;
  if (failures++ < 10) fprintf(stderr, "rank %d of %d: %s: other bytes\n", rank, size, what);
}

static int* numbers(int count, int first) {
  int* list = malloc(sizeof(int) * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) list[i] = first + i;
  return list;
}

static int* poison(int count) {
  int* list = malloc(sizeof(int) * (size_t)(count + 1));
  memset(list, 0x5a, sizeof(int) * (size_t)(count + 1));
  return list;
}

/* Counts that depend on both ends, with some that are 0; one after another. */
static int count_of(int from, int to, int call) {
  const int n = (from * 7 + to * 13 + call * 5) % most_elements;
  return n % 3 == 0 ? 0 : n;
}

static int sum_counts(int* counts, int* displacements, int n, int is_sender, const int* peers, int me, int call) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    const int peer = peers ? peers[i] : i;
    counts[i] = peer == MPI_PROC_NULL ? 0 : is_sender ? count_of(me, peer, call) : count_of(peer, me, call);
    displacements[i] = sum;
    sum += counts[i];
  }
  return sum;
}

static void all_to_alls(MPI_Comm comm) {
  int me, n;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  int *sc = malloc(sizeof(int) * (size_t)n), *sd = malloc(sizeof(int) * (size_t)n);
  int *rc = malloc(sizeof(int) * (size_t)n), *rd = malloc(sizeof(int) * (size_t)n);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)n);
  int *sb = malloc(sizeof(int) * (size_t)n), *rb = malloc(sizeof(int) * (size_t)n);
  MPI_Datatype gaps;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  for (int call = 0; call < calls; ++call) {
    const int each = call % 4 == 0 ? 0 : call;
    int *send = numbers(n * each * 2, me * 1000), *got = poison(n * each * 2), *expected = poison(n * each * 2);
    MPI_Alltoall(send, each, MPI_INT, got, each, MPI_INT, comm);
    PMPI_Alltoall(send, each, MPI_INT, expected, each, MPI_INT, comm);
    compare("alltoall", got, expected, sizeof(int) * (size_t)(n * each * 2));
    /* In place, as much to each as comes from it. */
    memcpy(got, send, sizeof(int) * (size_t)(n * each));
    memcpy(expected, send, sizeof(int) * (size_t)(n * each));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, each, MPI_INT, comm);
    PMPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, expected, each, MPI_INT, comm);
    compare("alltoall in place", got, expected, sizeof(int) * (size_t)(n * each));
    free(send), free(got), free(expected);

    const int out = sum_counts(sc, sd, n, 1, NULL, me, call), in = sum_counts(rc, rd, n, 0, NULL, me, call);
    send = numbers(out, me * 1000), got = poison(in), expected = poison(in);
    MPI_Alltoallv(send, sc, sd, MPI_INT, got, rc, rd, MPI_INT, comm);
    PMPI_Alltoallv(send, sc, sd, MPI_INT, expected, rc, rd, MPI_INT, comm);
    compare("alltoallv", got, expected, sizeof(int) * (size_t)in);
    for (int i = 0; i < n; ++i) {
      sb[i] = sd[i] * (int)sizeof(int), rb[i] = rd[i] * (int)sizeof(int);
      types[i] = MPI_INT;
    }
    memset(got, 0x5a, sizeof(int) * (size_t)in);
    MPI_Alltoallw(send, sc, sb, types, got, rc, rb, types, comm);
    compare("alltoallw", got, expected, sizeof(int) * (size_t)in);
    free(send), free(got), free(expected);

    /* Elements with gaps, and addresses that are absolute. */
    send = numbers(n * 3, me * 1000), got = poison(n * 3), expected = poison(n * 3);
    MPI_Datatype from, into, expect;
    MPI_Aint address;
    int one = 1;
    MPI_Get_address(send, &address);
    MPI_Type_create_hindexed(1, &one, &address, gaps, &from);
    MPI_Get_address(got, &address);
    MPI_Type_create_hindexed(1, &one, &address, gaps, &into);
    MPI_Get_address(expected, &address);
    MPI_Type_create_hindexed(1, &one, &address, gaps, &expect);
    MPI_Type_commit(&from), MPI_Type_commit(&into), MPI_Type_commit(&expect);
    MPI_Alltoall(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, into, comm);
    PMPI_Alltoall(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, expect, comm);
    compare("alltoall from MPI_BOTTOM", got, expected, sizeof(int) * (size_t)(n * 3));
    MPI_Type_free(&from), MPI_Type_free(&into), MPI_Type_free(&expect);
    free(send), free(got), free(expected);
  }
  MPI_Type_free(&gaps);
  free(sc), free(sd), free(rc), free(rd), free(types), free(sb), free(rb);
}

static void neighborhoods(MPI_Comm comm, int in, const int* sources, int out, const int* destinations) {
  int me;
  MPI_Comm_rank(comm, &me);
  int *sc = malloc(sizeof(int) * (size_t)(out + 1)), *sd = malloc(sizeof(int) * (size_t)(out + 1));
  int *rc = malloc(sizeof(int) * (size_t)(in + 1)), *rd = malloc(sizeof(int) * (size_t)(in + 1));
  for (int call = 0; call < calls; ++call) {
    const int each = 1 + call;
    const size_t bytes = sizeof(int) * (size_t)(in * each);
    int *send = numbers(out * each + each, me * 1000), *got = poison(in * each), *expected = poison(in * each);
    MPI_Neighbor_alltoall(send, each, MPI_INT, got, each, MPI_INT, comm);
    PMPI_Neighbor_alltoall(send, each, MPI_INT, expected, each, MPI_INT, comm);
    compare("neighbor_alltoall", got, expected, bytes);
    memset(got, 0x5a, bytes), memset(expected, 0x5a, bytes);
    MPI_Neighbor_allgather(send, each, MPI_INT, got, each, MPI_INT, comm);
    PMPI_Neighbor_allgather(send, each, MPI_INT, expected, each, MPI_INT, comm);
    compare("neighbor_allgather", got, expected, bytes);
    memset(got, 0x5a, bytes), memset(expected, 0x5a, bytes);
    for (int i = 0; i < in; ++i) rc[i] = each, rd[i] = (in - 1 - i) * each;
    MPI_Neighbor_allgatherv(send, each, MPI_INT, got, rc, rd, MPI_INT, comm);
    PMPI_Neighbor_allgatherv(send, each, MPI_INT, expected, rc, rd, MPI_INT, comm);
    compare("neighbor_allgatherv", got, expected, bytes);
    free(send), free(got), free(expected);
    const int gives = sum_counts(sc, sd, out, 1, destinations, me, call),
              takes = sum_counts(rc, rd, in, 0, sources, me, call);
    send = numbers(gives, me * 1000), got = poison(takes), expected = poison(takes);
    MPI_Neighbor_alltoallv(send, sc, sd, MPI_INT, got, rc, rd, MPI_INT, comm);
    PMPI_Neighbor_alltoallv(send, sc, sd, MPI_INT, expected, rc, rd, MPI_INT, comm);
    compare("neighbor_alltoallv", got, expected, sizeof(int) * (size_t)takes);
    free(send), free(got), free(expected);
  }
  free(sc), free(sd), free(rc), free(rd);
}

static void graph(void) {
  /* Rank r sends to r + 1, r + 3 and itself, where those are several. */
  int to[3], from[3], weights[3] = {1, 1, 1}, n = 0;
  const int steps[3] = {0, 1, 3};
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (steps[i] % size == 0 || (i == 2 && 3 % size == 1))) continue;
    to[n] = (rank + steps[i]) % size;
    from[n++] = (rank - steps[i] % size + size) % size;
  }
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, from, weights, n, to, weights, MPI_INFO_NULL, 0, &comm);
  neighborhoods(comm, n, from, n, to);
  MPI_Comm_free(&comm);
}

static void grid(int is_periodic) {
  int dims[2] = {0, 0}, periods[2] = {is_periodic, is_periodic}, around[4];
  MPI_Dims_create(size, 2, dims);
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  for (int d = 0; d < 2; ++d) MPI_Cart_shift(comm, d, 1, &around[2 * d], &around[2 * d + 1]);
  neighborhoods(comm, 4, around, 4, around);
  MPI_Comm_free(&comm);
}

static void between_two_halves(void) {
  if (size < 2) return;
  MPI_Comm half, both;
  const int color = rank < size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, color ? size / 2 : 0, 7, &both);
  int there;
  MPI_Comm_remote_size(both, &there);
  for (int call = 0; call < 4; ++call) {
    int *send = numbers(there, rank * 1000), *got = poison(there), *expected = poison(there);
    MPI_Alltoall(send, 1, MPI_INT, got, 1, MPI_INT, both);
    PMPI_Alltoall(send, 1, MPI_INT, expected, 1, MPI_INT, both);
    compare("alltoall between two halves", got, expected, sizeof(int) * (size_t)there);
    int *ones = malloc(sizeof(int) * (size_t)there), *places = malloc(sizeof(int) * (size_t)there);
    MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)there);
    for (int i = 0; i < there; ++i) ones[i] = 1, places[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    memset(got, 0x5a, sizeof(int) * (size_t)there);
    MPI_Alltoallw(send, ones, places, types, got, ones, places, types, both);
    compare("alltoallw between two halves", got, expected, sizeof(int) * (size_t)there);
    free(ones), free(places), free(types);
    free(send), free(got), free(expected);
  }
  MPI_Comm_free(&both);
  all_to_alls(half);
  MPI_Comm_free(&half);
}

/* Attributes are the program's: their callbacks run when it frees and duplicates communicators, and at no other time.
 */
static int copies = 0, deletions = 0;
static int count_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* is_kept) {
  (void)comm, (void)key, (void)extra;
  ++copies;
  *(void**)out = in;
  return *is_kept = 1, MPI_SUCCESS;
}
static int count_deletion(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  return ++deletions, MPI_SUCCESS;
}

static void attributes(void) {
  int key;
  MPI_Comm comm;
  MPI_Comm_create_keyval(count_copy, count_deletion, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, &key);
  all_to_alls(comm);
  MPI_Comm_free(&comm);
  if (copies != 0 || deletions != 1) ++failures;
  MPI_Comm_free_keyval(&key);
}

/* What libraries do to clean up: MPI calls this while it ends. */
static MPI_Comm kept = MPI_COMM_NULL;
static int clean_up(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int* send = numbers(size, rank * 1000);
  int* got = poison(size);
  MPI_Alltoall(send, 1, MPI_INT, got, 1, MPI_INT, kept);
  for (int i = 0; i < size; ++i)
    if (got[i] != i * 1000 + rank) printf("at the end: other bytes\n");
  free(send), free(got);
  return MPI_Comm_free(&kept);
}

static void clean_up_at_the_end(void) {
  int key;
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  all_to_alls(kept);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

/* A legal use of calls that do not block: the others come only when this rank has received. */
static void calls_that_do_not_block(void) {
  for (int call = 0; call < 4; ++call) {
    int *send = numbers(size, rank * 1000), *got = poison(size), token = call;
    MPI_Request request;
    if (rank == 0) {
      MPI_Ialltoall(send, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, &request);
      if (size > 1) MPI_Recv(&token, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      if (rank == size - 1) MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
      MPI_Ialltoall(send, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; ++i)
      if (got[i] != i * 1000 + rank) ++failures;
    free(send), free(got);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  all_to_alls(MPI_COMM_WORLD);
  all_to_alls(MPI_COMM_SELF);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  all_to_alls(copy);
  calls_that_do_not_block();
  graph();
  grid(0);
#ifndef MPICH_VERSION /* which is wrong in periodic dimensions of one or two; twice.c knows the right result */
  grid(1);
#endif
  between_two_halves();
  for (int i = 0; i < 5; ++i) { /* communicators that come and go */
    MPI_Comm brief;
    MPI_Comm_dup(copy, &brief);
    all_to_alls(brief);
    MPI_Comm_free(&brief);
  }
  MPI_Comm_free(&copy);
  attributes();
  clean_up_at_the_end();
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(failures ? "%d comparisons failed\n" : "all comparisons hold\n", failures);
  MPI_Finalize();
  return failures != 0;
}
