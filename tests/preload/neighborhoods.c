/* A program that knows nothing of Commpass, on neighbourhoods in which MPI libraries move blocks to wrong places: ranks
   that are neighbours several times, and ranks with more neighbours in one direction than in the other. Each exchange
   is compared with messages: on a grid a block that goes down comes from above, so that block s arrives at place s xor
   1; on a graph the k-th edge from one rank to another at its source is the k-th at its destination. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 4
#define HAS_PERSISTENT 1
#define PERSISTENT(name) MPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define HAS_PERSISTENT 1
#define PERSISTENT(name) MPIX_##name##_init
#else
#define HAS_PERSISTENT 0
#endif

/* room: ints between two blocks, more than the longest block takes with gaps. */
enum { neighbors_max = 64, width = 3, room = 6, untouched = 0x5a5a5a5a };
enum form { alltoall, alltoallv, alltoallw, allgather, allgatherv, forms };
enum way { blocking, nonblocking, persistent, ways };
static const char* const form_names[] = {"alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"};
static const char* const way_names[] = {"blocking", "nonblocking", "persistent"};

static int rank, size, failures, blocking_calls = 3;
static MPI_Datatype pair, gapped; /* 2 ints: one after another; with an int between them */

struct neighborhood {
  MPI_Comm comm;
  int is_grid, in, out;
  int sources[neighbors_max], destinations[neighbors_max];
  int from_places[neighbors_max]; /* at its source, of the block that arrives at a place; -1: none */
};

/* The arguments of a call, and the bytes that it should bring. */
struct call {
  int sendcounts[neighbors_max], recvcounts[neighbors_max], sdispls[neighbors_max], rdispls[neighbors_max];
  MPI_Aint sbytes[neighbors_max], rbytes[neighbors_max];
  MPI_Datatype sendtypes[neighbors_max], recvtypes[neighbors_max];
  int send[neighbors_max * room], receive[neighbors_max * room], expected[neighbors_max * room];
  MPI_Request request;
};

/* Moves a block of ints along each edge by messages. */
static void move_by_messages(const struct neighborhood* of, int* sent, int* received, int length) {
  MPI_Request requests[2 * neighbors_max];
  MPI_Status statuses[2 * neighbors_max];
  int count = 0;
  for (int i = 0; i < of->in; ++i)
    MPI_Irecv(received + i * length, length, MPI_INT, of->sources[i], of->is_grid ? i ^ 1 : 0, of->comm,
              &requests[count++]);
  for (int i = 0; i < of->out; ++i)
    MPI_Isend(sent + i * length, length, MPI_INT, of->destinations[i], of->is_grid ? i : 0, of->comm,
              &requests[count++]);
  MPI_Waitall(count, requests, statuses);
}

static int length_of(enum form form, int from, int place) {
  return form == alltoallv || form == alltoallw ? (from + place) % (width + 1) : width;
}
static int has_places(enum form form) { return form == alltoallv || form == alltoallw || form == allgatherv; }

/* In an alltoallw blocks of two ints are elements of other types at both ends. */
static void set_type(enum form form, int place, int other, int* count, MPI_Datatype* type) {
  *type = MPI_INT;
  if (form != alltoallw || *count != 2 || (place + other) % 3 == 0) return;
  *count = 1;
  *type = (place + other) % 3 == 1 ? pair : gapped;
}

static void prepare(struct call* call, const struct neighborhood* of, enum form form, int number) {
  int sent[neighbors_max * width], received[neighbors_max * width];
  const int is_gather = form == allgather || form == allgatherv;
  for (int place = 0; place < of->out; ++place)
    for (int i = 0; i < width; ++i)
      sent[place * width + i] = 100000 * rank + 1000 * (is_gather ? 0 : place) + 10 * number + i;
  for (int i = 0; i < of->in * width; ++i) received[i] = untouched;
  move_by_messages(of, sent, received, width);
  memset(call, 0, sizeof *call);
  for (int i = 0; i < neighbors_max * room; ++i) call->receive[i] = call->expected[i] = untouched;
  for (int place = 0; place < of->out; ++place) {
    const int at = has_places(form) ? room * (of->out - 1 - place) : width * place;
    call->sendcounts[place] = length_of(form, rank, place);
    set_type(form, place, rank, &call->sendcounts[place], &call->sendtypes[place]);
    call->sdispls[place] = at, call->sbytes[place] = (MPI_Aint)sizeof(int) * at;
    for (int i = 0; i < width; ++i)
      call->send[at + (call->sendtypes[place] == gapped ? 2 * i : i)] = sent[place * width + i];
  }
  if (is_gather)
    for (int i = 0; i < width; ++i) call->send[i] = 100000 * rank + 10 * number + i;
  for (int place = 0; place < of->in; ++place) {
    const int at = has_places(form) ? room * place : width * place, from = of->sources[place];
    const int length = from == MPI_PROC_NULL ? width : length_of(form, from, of->from_places[place]);
    call->recvcounts[place] = length;
    set_type(form, place, 1, &call->recvcounts[place], &call->recvtypes[place]);
    call->rdispls[place] = at, call->rbytes[place] = (MPI_Aint)sizeof(int) * at;
    for (int i = 0; i < length && from != MPI_PROC_NULL; ++i)
      call->expected[at + (call->recvtypes[place] == gapped ? 2 * i : i)] = received[place * width + i];
  }
}

static void run_blocking(struct call* c, MPI_Comm comm, enum form form) {
  switch (form) {
    case alltoall: MPI_Neighbor_alltoall(c->send, width, MPI_INT, c->receive, width, MPI_INT, comm); break;
    case alltoallv:
      MPI_Neighbor_alltoallv(c->send, c->sendcounts, c->sdispls, MPI_INT, c->receive, c->recvcounts, c->rdispls,
                             MPI_INT, comm);
      break;
    case alltoallw:
      MPI_Neighbor_alltoallw(c->send, c->sendcounts, c->sbytes, c->sendtypes, c->receive, c->recvcounts, c->rbytes,
                             c->recvtypes, comm);
      break;
    case allgather: MPI_Neighbor_allgather(c->send, width, MPI_INT, c->receive, width, MPI_INT, comm); break;
    default: MPI_Neighbor_allgatherv(c->send, width, MPI_INT, c->receive, c->recvcounts, c->rdispls, MPI_INT, comm);
  }
}

static void run_nonblocking(struct call* c, MPI_Comm comm, enum form form) {
  MPI_Request* const r = &c->request;
  switch (form) {
    case alltoall: MPI_Ineighbor_alltoall(c->send, width, MPI_INT, c->receive, width, MPI_INT, comm, r); break;
    case alltoallv:
      MPI_Ineighbor_alltoallv(c->send, c->sendcounts, c->sdispls, MPI_INT, c->receive, c->recvcounts, c->rdispls,
                              MPI_INT, comm, r);
      break;
    case alltoallw:
      MPI_Ineighbor_alltoallw(c->send, c->sendcounts, c->sbytes, c->sendtypes, c->receive, c->recvcounts, c->rbytes,
                              c->recvtypes, comm, r);
      break;
    case allgather: MPI_Ineighbor_allgather(c->send, width, MPI_INT, c->receive, width, MPI_INT, comm, r); break;
    default: MPI_Ineighbor_allgatherv(c->send, width, MPI_INT, c->receive, c->recvcounts, c->rdispls, MPI_INT, comm, r);
  }
}

static void make_persistent(struct call* c, MPI_Comm comm, enum form form) {
#if HAS_PERSISTENT
  const MPI_Info info = MPI_INFO_NULL;
  MPI_Request* const r = &c->request;
  switch (form) {
    case alltoall:
      PERSISTENT(Neighbor_alltoall)(c->send, width, MPI_INT, c->receive, width, MPI_INT, comm, info, r);
      break;
    case alltoallv:
      PERSISTENT(Neighbor_alltoallv)
      (c->send, c->sendcounts, c->sdispls, MPI_INT, c->receive, c->recvcounts, c->rdispls, MPI_INT, comm, info, r);
      break;
    case alltoallw:
      PERSISTENT(Neighbor_alltoallw)
      (c->send, c->sendcounts, c->sbytes, c->sendtypes, c->receive, c->recvcounts, c->rbytes, c->recvtypes, comm, info,
       r);
      break;
    case allgather:
      PERSISTENT(Neighbor_allgather)(c->send, width, MPI_INT, c->receive, width, MPI_INT, comm, info, r);
      break;
    default:
      PERSISTENT(Neighbor_allgatherv)
      (c->send, width, MPI_INT, c->receive, c->recvcounts, c->rdispls, MPI_INT, comm, info, r);
  }
#else
  (void)c, (void)comm, (void)form;
#endif
}

static void check(struct call* call, const char* where, enum form form, enum way way) {
  if (memcmp(call->receive, call->expected, sizeof call->receive) != 0 && failures++ < 10)
    fprintf(stderr, "rank %d of %d: %s, %s, %s: other bytes\n", rank, size, where, form_names[form], way_names[way]);
  for (int i = 0; i < neighbors_max * room; ++i) call->receive[i] = untouched;
}

static void exchange(struct neighborhood* of, const char* where) {
  static struct call first, second;
  int places[neighbors_max];
  for (int i = 0; i < neighbors_max; ++i) places[i] = i, of->from_places[i] = -1;
  move_by_messages(of, places, of->from_places, 1);
  for (int form = 0; form < forms; ++form) {
    for (int number = 0; number < blocking_calls; ++number) {
      prepare(&first, of, form, number);
      run_blocking(&first, of->comm, form);
      check(&first, where, form, blocking);
    }
    /* Two at once, which must not share what they are still to read. */
    prepare(&first, of, form, 1);
    prepare(&second, of, form, 2);
    run_nonblocking(&first, of->comm, form);
    run_nonblocking(&second, of->comm, form);
    MPI_Wait(&second.request, MPI_STATUS_IGNORE);
    MPI_Wait(&first.request, MPI_STATUS_IGNORE);
    check(&first, where, form, nonblocking);
    check(&second, where, form, nonblocking);
    if (!HAS_PERSISTENT) continue;
    prepare(&first, of, form, 3);
    prepare(&second, of, form, 4);
    make_persistent(&first, of->comm, form);
    make_persistent(&second, of->comm, form);
    for (int start = 0; start < 2; ++start) {
      MPI_Request both[2] = {first.request, second.request};
      MPI_Status statuses[2];
      MPI_Startall(2, both);
      MPI_Waitall(2, both, statuses);
      check(&first, where, form, persistent);
      check(&second, where, form, persistent);
    }
    MPI_Request_free(&first.request);
    MPI_Request_free(&second.request);
  }
  MPI_Comm_free(&of->comm);
}

static void grid(const char* where, int dimensions, const int* sizes, const int* are_periodic) {
  struct neighborhood of = {.is_grid = 1, .in = 2 * dimensions, .out = 2 * dimensions};
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, are_periodic, 0, &of.comm);
  for (int dimension = 0; dimension < dimensions; ++dimension)
    MPI_Cart_shift(of.comm, dimension, 1, &of.sources[2 * dimension], &of.sources[2 * dimension + 1]);
  memcpy(of.destinations, of.sources, sizeof of.sources);
  exchange(&of, where);
}

static void grids(void) {
  const int yes[3] = {1, 1, 1}, no[3] = {0, 0, 0}, first[3] = {1, 0, 0}, last[3] = {0, 0, 1};
  const int line[3] = {size, 1, 1}, middle[3] = {1, size, 1};
  int plane[2] = {0, 0}, box[3] = {0, 0, 0};
  MPI_Dims_create(size, 2, plane);
  MPI_Dims_create(size, 3, box);
  grid("ring", 1, line, yes);
  grid("line", 1, line, no);
  grid("ring of one in a dimension", 2, line, yes);
  grid("ring that is one wide", 2, line, first);
  grid("ring between dimensions of one", 3, middle, yes);
  grid("line between dimensions of one", 3, middle, last);
  grid("torus", 2, plane, yes);
  grid("cylinder", 2, plane, first);
  grid("torus of three dimensions", 3, box, yes);
  grid("box of three dimensions", 3, box, no);
  grid("box that is periodic in one dimension", 3, box, last);
}

/* Edges i -> j, in an order that all ranks know. */
struct edges {
  int count, from[neighbors_max * 8], to[neighbors_max * 8];
};
static void add(struct edges* all, int from, int to) { all->from[all->count] = from, all->to[all->count++] = to; }

/* is_turned: each rank lists its edges in another order. */
static void distributed_graph(const char* where, const struct edges* all, int is_turned) {
  struct neighborhood of = {.is_grid = 0};
  int weights[neighbors_max];
  for (int i = 0; i < neighbors_max; ++i) weights[i] = 1;
  for (int i = 0; i < all->count; ++i) {
    const int k = is_turned ? all->count - 1 - i : i;
    if (all->from[k] == rank) of.destinations[of.out++] = all->to[k];
    if (all->to[i] == rank) of.sources[of.in++] = all->from[i];
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, of.in, of.sources, weights, of.out, of.destinations, weights,
                                 MPI_INFO_NULL, 0, &of.comm);
  exchange(&of, where);
}

/* Of MPI_Graph_create: each rank has its neighbours on both sides, `times` times. */
static void old_graph(const char* where, int times) {
  struct neighborhood of = {.is_grid = 0, .in = 2 * times, .out = 2 * times};
  int* const ends = malloc(sizeof(int) * (size_t)size);
  int* const edges = malloc(sizeof(int) * (size_t)(2 * times * size));
  for (int i = 0; i < size; ++i) {
    ends[i] = 2 * times * (i + 1);
    for (int k = 0; k < times; ++k)
      edges[2 * times * i + 2 * k] = (i + 1) % size, edges[2 * times * i + 2 * k + 1] = (i + size - 1) % size;
  }
  for (int i = 0; i < 2 * times; ++i) of.sources[i] = of.destinations[i] = edges[2 * times * rank + i];
  MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &of.comm);
  exchange(&of, where);
  free(ends);
  free(edges);
}

static void graphs(void) {
  struct edges twice = {0}, thrice_to_next = {0}, star = {0}, inward = {0}, uneven = {0};
  for (int times = 0; times < 2; ++times)
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) add(&twice, i, j);
  for (int i = 0; i < 3 * size; ++i) add(&thrice_to_next, i % size, (i + 1) % size);
  for (int i = 1; i < size; ++i) add(&star, 0, i), add(&inward, i, 0);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j <= i; ++j) add(&uneven, i, j);
  for (int is_turned = 0; is_turned < 2; ++is_turned) {
    distributed_graph("all ranks twice", &twice, is_turned);
    distributed_graph("the next rank thrice", &thrice_to_next, is_turned);
    distributed_graph("star", &star, is_turned);
    distributed_graph("star inwards", &inward, is_turned);
    distributed_graph("uneven graph", &uneven, is_turned);
  }
  old_graph("ring as a graph", 1);
  old_graph("ring twice as a graph", 2);
}

/* Rank 0 waits for a message before it waits for the exchange, and the last rank sends it after the exchange: so an
   exchange has to end while a rank that takes part is in another call. */
static void message_between(void) {
  const int sizes[2] = {size, 1}, are_periodic[2] = {1, 1};
  int send[4], receive[4], counts[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3}, word = 0;
  MPI_Comm comm;
  MPI_Request request;
  if (size == 1) return;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, are_periodic, 0, &comm);
  for (int i = 0; i < 4; ++i) send[i] = 10 * rank + i;
  MPI_Ineighbor_alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, comm, &request);
  if (rank == 0) MPI_Recv(&word, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == size - 1) MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (receive[2] != 10 * rank + 3 || receive[3] != 10 * rank + 2) ++failures;
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) blocking_calls = atoi(argv[1]);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &gapped);
  MPI_Type_commit(&gapped);
  grids();
  graphs();
  message_between();
  MPI_Type_free(&pair);
  MPI_Type_free(&gapped);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures) printf("%d comparisons failed\n", failures);
  if (rank == 0 && !failures) printf("all comparisons hold\n");
  MPI_Finalize();
  return failures != 0;
}
