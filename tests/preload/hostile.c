/* A program that knows nothing of Commpass and does what MPI allows and few programs do: odd datatypes, null buffers,
   absolute addresses, wrong arguments, wild receives, threads. It knows the right results. */
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { repeats = 12, most_ranks = 64 };

static int rank, size;
static _Atomic int failures;

static void check(const char* what, int is_right) {
  if (is_right) return;
  if (failures++ < 10) fprintf(stderr, "rank %d of %d: %s: other bytes\n", rank, size, what);
}

/* The i-th number that one rank has for another one. */
static int number(int from, int to, int i) { return 10000 * from + 100 * to + i; }
/* How many those are: none for some. */
static int amount(int from, int to) { return (from + 2 * to) % 4; }

static const int none[most_ranks];

/* Elements of two numbers, whose second one comes first and lies before the address; with room behind. */
static MPI_Datatype backwards(void) {
  const int ones[2] = {1, 1};
  const MPI_Aint places[2] = {4, -8};
  MPI_Datatype pair, type;
  MPI_Type_create_hindexed(2, ones, places, MPI_INT, &pair);
  MPI_Type_create_resized(pair, -8, 24, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&pair);
  return type;
}

/* A byte, a hole and a number. */
struct holed {
  char letter;
  int value;
};
static MPI_Datatype holed_type(void) {
  const int ones[2] = {1, 1};
  const MPI_Aint places[2] = {offsetof(struct holed, letter), offsetof(struct holed, value)};
  const MPI_Datatype types[2] = {MPI_CHAR, MPI_INT};
  MPI_Datatype loose, type;
  MPI_Type_create_struct(2, ones, places, types, &loose);
  MPI_Type_create_resized(loose, 0, sizeof(struct holed), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&loose);
  return type;
}

static void odd_types(MPI_Comm comm) {
  const MPI_Datatype pair = backwards(), holed = holed_type();
  MPI_Datatype two, copy, nothing;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_dup(MPI_INT, &copy);
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&two), MPI_Type_commit(&nothing);
  int* send = calloc((size_t)size * 6 + 2, sizeof(int));
  int* receive = malloc(((size_t)size * 2 + 1) * sizeof(int));
  struct holed *sent = calloc((size_t)size, sizeof *sent), *got = malloc((size_t)size * sizeof *got);
  for (int call = 0; call < repeats; ++call) {
    for (int to = 0; to < size; ++to) {
      send[2 + 6 * to + 1] = number(rank, to, 0), send[2 + 6 * to - 2] = number(rank, to, 1);
      sent[to] = (struct holed){(char)('a' + to % 20), number(rank, to, call)};
    }
    /* One of a type that is turned and shifted comes as two numbers, or one of another type of two. */
    memset(receive, 0x5a, ((size_t)size * 2 + 1) * sizeof(int));
    if (call % 2) MPI_Alltoall(send + 2, 1, pair, receive, 2, copy, comm);
    else MPI_Alltoall(send + 2, 1, pair, receive, 1, two, comm);
    for (int from = 0; from < size; ++from)
      check("turned elements",
            receive[2 * from] == number(from, rank, 0) && receive[2 * from + 1] == number(from, rank, 1));
    check("behind the buffer", receive[2 * size] == 0x5a5a5a5a);
    memset(got, 0x5a, (size_t)size * sizeof *got);
    MPI_Alltoall(sent, 1, holed, got, 1, holed, comm);
    for (int from = 0; from < size; ++from)
      check("structures", got[from].letter == (char)('a' + rank % 20) && got[from].value == number(from, rank, call) &&
                              ((char*)&got[from])[1] == 0x5a);
    MPI_Alltoall(send, 3, nothing, receive, 3, nothing, comm);
    MPI_Alltoall(NULL, 0, MPI_INT, receive, 0, MPI_INT, comm);
    MPI_Alltoallv(NULL, none, none, MPI_INT, receive, none, none, MPI_INT, comm);
  }
  MPI_Datatype used[] = {pair, holed, two, copy, nothing};
  for (int i = 0; i < 5; ++i) MPI_Type_free(&used[i]);
  free(send), free(receive), free(sent), free(got);
}

/* Blocks in the opposite order, before the address that the call is given; empty blocks have places that
   must not be looked at. */
static void odd_places(MPI_Comm comm) {
  int sc[most_ranks], sd[most_ranks], rc[most_ranks], rd[most_ranks];
  MPI_Datatype types[most_ranks];
  int *send = malloc((size_t)size * 4 * sizeof(int)), *receive = malloc((size_t)size * 4 * sizeof(int));
  const int end = 4 * size;
  for (int call = 0; call < repeats; ++call) {
    for (int i = 0; i < size; ++i) {
      sc[i] = amount(rank, i), rc[i] = amount(i, rank);
      sd[i] = sc[i] ? -4 * (i + 1) : 1 << 30, rd[i] = rc[i] ? -4 * (i + 1) : -(1 << 30);
      for (int k = 0; k < sc[i]; ++k) send[end + sd[i] + k] = number(rank, i, k);
    }
    memset(receive, 0x5a, (size_t)end * sizeof(int));
    MPI_Alltoallv(send + end, sc, sd, MPI_INT, receive + end, rc, rd, MPI_INT, comm);
    for (int from = 0; from < size; ++from)
      for (int k = 0; k < 4; ++k)
        check("blocks before the address",
              receive[end - 4 * (from + 1) + k] == (k < rc[from] ? number(from, rank, k) : 0x5a5a5a5a));
    for (int i = 0; i < size; ++i) {
      types[i] = MPI_INT;
      if (sc[i]) sd[i] *= (int)sizeof(int);
      if (rc[i]) rd[i] *= (int)sizeof(int);
    }
    memset(receive, 0x5a, (size_t)end * sizeof(int));
    MPI_Alltoallw(send + end, sc, sd, types, receive + end, rc, rd, types, comm);
    for (int from = 0; from < size; ++from)
      for (int k = 0; k < rc[from]; ++k)
        check("typed blocks before the address", receive[end - 4 * (from + 1) + k] == number(from, rank, k));
  }
  free(send), free(receive);
}

/* In place each pair of ranks swaps as many elements. */
static void in_place(MPI_Comm comm) {
  const MPI_Datatype holed = holed_type();
  int counts[most_ranks], places[most_ranks], bytes[most_ranks];
  MPI_Datatype types[most_ranks];
  struct holed* all = malloc((size_t)size * 3 * sizeof *all);
  for (int call = 0; call < repeats; ++call)
    for (int form = 0; form < 2; ++form) {
      for (int i = 0; i < size; ++i) {
        counts[i] = (rank + i + call) % 4 == 3 ? 0 : (rank + i + call) % 4;
        places[i] = 3 * i, bytes[i] = 3 * i * (int)sizeof *all, types[i] = holed;
        for (int k = 0; k < 3; ++k) all[3 * i + k] = (struct holed){'x', number(rank, i, k)};
      }
      if (form) MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, bytes, types, comm);
      else MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, places, holed, comm);
      for (int i = 0; i < size; ++i)
        for (int k = 0; k < 3; ++k)
          check(form ? "alltoallw in place" : "alltoallv in place",
                all[3 * i + k].value == (k < counts[i] ? number(i, rank, k) : number(rank, i, k)));
    }
  MPI_Datatype used = holed;
  MPI_Type_free(&used);
  free(all);
}

/* Elements lie where their types say, and the buffer says nothing. */
static void absolute_addresses(MPI_Comm comm) {
  int counts[most_ranks], zeros[most_ranks], send[most_ranks], receive[most_ranks];
  MPI_Datatype from[most_ranks], to[most_ranks];
  for (int i = 0; i < size; ++i) {
    const int one = 1;
    MPI_Aint at;
    counts[i] = 1, zeros[i] = 0;
    MPI_Get_address(&send[i], &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &from[i]);
    MPI_Get_address(&receive[i], &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &to[i]);
    MPI_Type_commit(&from[i]), MPI_Type_commit(&to[i]);
  }
  for (int call = 0; call < repeats; ++call) {
    for (int i = 0; i < size; ++i) send[i] = number(rank, i, call), receive[i] = -1;
    MPI_Alltoallw(MPI_BOTTOM, counts, zeros, from, MPI_BOTTOM, counts, zeros, to, comm);
    for (int i = 0; i < size; ++i) check("absolute addresses", receive[i] == number(i, rank, call));
  }
  for (int i = 0; i < size; ++i) MPI_Type_free(&from[i]), MPI_Type_free(&to[i]);
}

/* The neighbours' blocks, each of a type of its own. */
static void typed_neighbors(MPI_Comm comm, int in, const int* sources, int out, const int* destinations) {
  const MPI_Datatype pair = backwards();
  const size_t wide = 6;
  int *send = calloc((size_t)out * wide + wide, sizeof(int)), *receive = malloc(((size_t)in * 2 + 2) * sizeof(int));
  int ones[most_ranks];
  MPI_Aint sd[most_ranks], rd[most_ranks];
  MPI_Datatype st[most_ranks], rt[most_ranks];
  for (int call = 0; call < repeats; ++call) {
    /* From the buffer itself, from nothing, or from elsewhere, which is farther than an int reaches. */
    int here;
    void *from = send, *to = receive;
    if (call % 3) from = to = call % 3 == 1 ? MPI_BOTTOM : &here;
    MPI_Aint send_at, receive_at, base;
    MPI_Get_address(send, &send_at), MPI_Get_address(receive, &receive_at);
    MPI_Get_address(from, &base), send_at -= base;
    MPI_Get_address(to, &base), receive_at -= base;
    for (int i = 0; i < most_ranks; ++i) ones[i] = 1;
    for (int i = 0; i < out; ++i) {
      int* const at = send + wide * (size_t)i + 2;
      const int to = destinations[i] == MPI_PROC_NULL ? 0 : destinations[i];
      at[1] = number(rank, to, call), at[-2] = number(rank, to, call + 1);
      sd[i] = send_at + (at - send) * (MPI_Aint)sizeof(int), st[i] = pair;
    }
    for (int i = 0; i < in; ++i) rd[i] = receive_at + (in - 1 - i) * 2 * (MPI_Aint)sizeof(int), rt[i] = MPI_INT;
    int twos[most_ranks];
    for (int i = 0; i < most_ranks; ++i) twos[i] = 2;
    memset(receive, 0x5a, ((size_t)in * 2 + 2) * sizeof(int));
    MPI_Neighbor_alltoallw(from, ones, sd, st, to, twos, rd, rt, comm);
    for (int i = 0; i < in; ++i) {
      const int* const got = receive + 2 * (in - 1 - i);
      const int is_there = sources[i] != MPI_PROC_NULL;
      check("typed neighbours", got[0] == (is_there ? number(sources[i], rank, call) : 0x5a5a5a5a) &&
                                    got[1] == (is_there ? number(sources[i], rank, call + 1) : 0x5a5a5a5a));
    }
    check("behind typed neighbours", receive[2 * in] == 0x5a5a5a5a);
  }
  MPI_Datatype used = pair;
  MPI_Type_free(&used);
  free(send), free(receive);
}

static void neighborhoods(void) {
  MPI_Comm comm;
  /* Even ranks send to all that are odd, and get nothing. */
  int peers[most_ranks], weights[most_ranks], n = 0;
  for (int i = 0; i < size; ++i) weights[i] = 1;
  for (int i = 0; i < size; ++i)
    if (i % 2 != rank % 2) peers[n++] = i;
  const int out = rank % 2 ? 0 : n, in = rank % 2 ? n : 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, peers, weights, out, peers, weights, MPI_INFO_NULL, 0, &comm);
  typed_neighbors(comm, in, peers, out, peers);
  MPI_Comm_free(&comm);
  /* A line whose ends have one neighbour. */
  const int no = 0;
  int around[2];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &comm);
  MPI_Cart_shift(comm, 0, 1, &around[0], &around[1]);
  typed_neighbors(comm, 2, around, 2, around);
  MPI_Comm_free(&comm);
  /* A graph of the old kind: all know the first. */
  int ends[most_ranks], edges[2 * most_ranks], known = 0;
  for (int i = 1; i < size; ++i) edges[known++] = i;
  ends[0] = known;
  for (int i = 1; i < size; ++i) edges[known++] = 0, ends[i] = known;
  MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &comm);
  for (int i = 1; i < size; ++i) peers[i - 1] = i;
  const int first[1] = {0};
  if (rank == 0) typed_neighbors(comm, size - 1, peers, size - 1, peers);
  else typed_neighbors(comm, 1, first, 1, first);
  MPI_Comm_free(&comm);
}

/* Messages for the program must not be received as ours, and the other way round. */
static void wild_receives(MPI_Comm comm) {
  for (int call = 0; call < repeats; ++call) {
    int send[most_ranks], receive[most_ranks], wild = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&wild, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    for (int i = 0; i < size; ++i) send[i] = number(rank, i, call);
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) check("beside a wild receive", receive[i] == number(i, rank, call));
    MPI_Send(&call, 1, MPI_INT, (rank + 1) % size, 1 + call, comm);
    MPI_Wait(&request, &status);
    check("a wild receive",
          wild == call && status.MPI_SOURCE == (rank + size - 1) % size && status.MPI_TAG == 1 + call);
  }
}

/* Started before others, completed after them, and in other orders by other ranks. */
static void started(MPI_Comm world) {
  for (int call = 0; call < repeats; ++call) {
    int counts[most_ranks], places[most_ranks], send[most_ranks], receive[2][most_ranks], token = -1, which;
    for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i, send[i] = number(rank, i, call);
    MPI_Comm comm;
    MPI_Comm_dup(world, &comm);
    MPI_Request requests[3];
    MPI_Ialltoallv(send, counts, places, MPI_INT, receive[0], counts, places, MPI_INT, comm, &requests[0]);
    /* The first rank waits in a receive for the last one, which completes the exchange before it sends. */
    if (size > 1 && rank == 0) MPI_Recv(&token, 1, MPI_INT, size - 1, 3, world, MPI_STATUS_IGNORE);
    if (size > 1 && rank == size - 1) {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      MPI_Send(&call, 1, MPI_INT, 0, 3, world);
    }
    if (requests[0] != MPI_REQUEST_NULL) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    /* Mixed with others, by which one waits for any; and on a communicator that is freed meanwhile. */
    MPI_Irecv(&token, 1, MPI_INT, (rank + 1) % size, 4, world, &requests[0]);
    MPI_Ialltoall(send, 1, MPI_INT, receive[1], 1, MPI_INT, comm, &requests[1]);
    if (size > 1) MPI_Comm_free(&comm); /* Open MPI 4.1 would wait for ever on one rank */
    MPI_Isend(&call, 1, MPI_INT, (rank + size - 1) % size, 4, world, &requests[2]);
    for (int left = 3; left > 0; --left) MPI_Waitany(3, requests, &which, MPI_STATUS_IGNORE);
    if (size == 1) MPI_Comm_free(&comm);
    check("mixed requests", token == call);
    for (int i = 0; i < size; ++i)
      check("started exchanges", receive[0][i] == number(i, rank, call) && receive[1][i] == number(i, rank, call));
  }
}

/* Halves that call different numbers of times, in a turned order of ranks. */
static void turned_halves(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int me, n;
  MPI_Comm_rank(half, &me);
  MPI_Comm_size(half, &n);
  for (int call = 0; call < (rank % 2 ? 3 : 2 * repeats); ++call) {
    int send[most_ranks], receive[most_ranks];
    for (int i = 0; i < n; ++i) send[i] = number(me, i, call);
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, half);
    for (int i = 0; i < n; ++i) check("halves", receive[i] == number(i, me, call));
  }
  MPI_Comm_free(&half);
}

/* Errors go to the program's handler, and the calls after it are right. */
static int handled;
static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}
static void wrong_arguments(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* to which Open MPI tells some */
  int send[most_ranks], receive[most_ranks];
  for (int call = 0; call < repeats; ++call) {
    if (call % 3 == 2) {
      const int before = handled;
      check("an error", MPI_Alltoall(send, -1, MPI_INT, receive, -1, MPI_INT, comm) != MPI_SUCCESS && handled > before);
    }
    if (call % 3 == 1) {
      int ones[most_ranks], places[most_ranks];
      MPI_Datatype types[most_ranks];
      for (int i = 0; i < size; ++i) ones[i] = 1, places[i] = i, types[i] = MPI_INT;
      const int before = handled;
      check("nowhere to receive", MPI_Alltoall(send, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm) != MPI_SUCCESS);
      check("nowhere to receive by types",
            MPI_Alltoallw(send, ones, places, types, MPI_IN_PLACE, ones, places, types, comm) != MPI_SUCCESS);
      check("handled errors", handled > before + 1);
      /* One buffer for both is an error where the MPI library says so. */
      check("one buffer", !MPI_Alltoall(send, 1, MPI_INT, send, 1, MPI_INT, comm) ==
                              !PMPI_Alltoall(send, 1, MPI_INT, send, 1, MPI_INT, comm));
      check("one buffer, counted", !MPI_Alltoallv(send, ones, places, MPI_INT, send, ones, places, MPI_INT, comm) ==
                                       !PMPI_Alltoallv(send, ones, places, MPI_INT, send, ones, places, MPI_INT, comm));
      for (int i = 0; i < size; ++i) places[i] *= (int)sizeof(int);
      check("one buffer, typed", !MPI_Alltoallw(send, ones, places, types, send, ones, places, types, comm) ==
                                     !PMPI_Alltoallw(send, ones, places, types, send, ones, places, types, comm));
    }
    for (int i = 0; i < size; ++i) send[i] = number(rank, i, call);
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) check("after an error", receive[i] == number(i, rank, call));
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

#if MPI_VERSION >= 4
/* Numbers of MPI 4, which go beyond int. */
static void wide_numbers(MPI_Comm comm) {
  MPI_Count counts[most_ranks], twos[most_ranks];
  MPI_Aint places[most_ranks], bytes[most_ranks];
  MPI_Datatype types[most_ranks];
  int send[2 * most_ranks], receive[2 * most_ranks];
  for (int i = 0; i < size; ++i)
    counts[i] = 1, twos[i] = 2, places[i] = 2 * i, bytes[i] = 2 * i * (MPI_Aint)sizeof(int), types[i] = MPI_INT;
  for (int call = 0; call < repeats; ++call)
    for (int form = 0; form < 3; ++form) {
      for (int i = 0; i < size; ++i)
        send[2 * i] = number(rank, i, call), send[2 * i + 1] = number(rank, i, form), receive[2 * i + 1] = -1;
      if (form == 0) MPI_Alltoall_c(send, 2, MPI_INT, receive, 2, MPI_INT, comm);
      if (form == 1) MPI_Alltoallv_c(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, comm);
      if (form == 2) MPI_Alltoallw_c(send, twos, bytes, types, receive, twos, bytes, types, comm);
      for (int i = 0; i < size; ++i)
        check("wide numbers", receive[2 * i] == number(i, rank, call) &&
                                  receive[2 * i + 1] == (form == 1 ? -1 : number(i, rank, form)));
    }
  /* A ring. */
  const int after = (rank + 1) % size, before = (rank + size - 1) % size, weight = 1;
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(comm, 1, &before, &weight, 1, &after, &weight, MPI_INFO_NULL, 0, &ring);
  for (int call = 0; call < repeats; ++call)
    for (int form = 0; form < 5; ++form) {
      int out[2] = {number(rank, after, call), form}, in[2] = {-1, -1};
      const MPI_Count two = 2;
      const MPI_Aint zero = 0;
      const MPI_Datatype type = MPI_INT;
      if (form == 0) MPI_Neighbor_alltoall_c(out, 2, MPI_INT, in, 2, MPI_INT, ring);
      if (form == 1) MPI_Neighbor_alltoallv_c(out, &two, &zero, MPI_INT, in, &two, &zero, MPI_INT, ring);
      if (form == 2) MPI_Neighbor_alltoallw_c(out, &two, &zero, &type, in, &two, &zero, &type, ring);
      if (form == 3) MPI_Neighbor_allgather_c(out, 2, MPI_INT, in, 2, MPI_INT, ring);
      if (form == 4) MPI_Neighbor_allgatherv_c(out, 2, MPI_INT, in, &two, &zero, MPI_INT, ring);
      check("wide numbers of neighbours", in[0] == number(before, rank, call) && in[1] == form);
    }
  MPI_Comm_free(&ring);
}
#endif

/* Each thread has a communicator. */
static void* exchange(void* of) {
  MPI_Comm* const comm = of;
  for (int call = 0; call < repeats; ++call) {
    int send[most_ranks], receive[most_ranks], counts[most_ranks], places[most_ranks];
    for (int i = 0; i < size; ++i) send[i] = number(rank, i, call), counts[i] = 1, places[i] = i;
    MPI_Alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, *comm);
    for (int i = 0; i < size; ++i) check("threads", receive[i] == number(i, rank, call));
  }
  return NULL;
}
static void threads(void) {
  enum { number_of_threads = 3 };
  MPI_Comm comms[number_of_threads];
  pthread_t ids[number_of_threads];
  for (int i = 0; i < number_of_threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < number_of_threads; ++i) pthread_create(&ids[i], NULL, exchange, &comms[i]);
  for (int i = 0; i < number_of_threads; ++i) pthread_join(ids[i], NULL);
  for (int i = number_of_threads; i-- > 0;) MPI_Comm_free(&comms[i]);
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  odd_types(MPI_COMM_WORLD);
  odd_places(MPI_COMM_WORLD);
  in_place(MPI_COMM_WORLD);
  absolute_addresses(MPI_COMM_WORLD);
  neighborhoods();
  wild_receives(MPI_COMM_WORLD);
  started(MPI_COMM_WORLD);
  turned_halves();
  wrong_arguments();
#if MPI_VERSION >= 4
  wide_numbers(MPI_COMM_WORLD);
#endif
  if (level == MPI_THREAD_MULTIPLE) threads();
  int all = failures;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(all ? "%d comparisons failed\n" : "all comparisons hold\n", all);
  MPI_Finalize();
  return all != 0;
}
