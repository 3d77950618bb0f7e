/* A program that knows nothing of Commpass, with persistent collectives. Each exchange is compared with the MPI
   library's own blocking call (PMPI_…) of the same arguments, byte by byte, gaps included. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#else
#define INIT(name) MPIX_##name##_init
#endif

enum { ranks_max = 8, untouched = 0x5a5a5a5a };
enum form { alltoall, alltoallv, alltoallw, n_alltoall, n_alltoallv, n_alltoallw, n_allgather, n_allgatherv, forms };
static const char* const names[] = {"alltoall",           "alltoallv",          "alltoallw",
                                    "neighbor_alltoall",  "neighbor_alltoallv", "neighbor_alltoallw",
                                    "neighbor_allgather", "neighbor_allgatherv"};

/* are_ours: Commpass runs all, so that more is right than in the MPI libraries. MPICH 4.0 returns an error of
   MPI_Testall and MPI_Waitall of several persistent collectives, and does not know that one is inactive. */
static int rank, size, failures, are_ours;

static unsigned drawn(unsigned a, unsigned b, unsigned c) {
  unsigned h = a * 2654435761u ^ (b + 1) * 2246822519u ^ (c + 1) * 3266489917u;
  h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
  return h;
}

static void require(int holds, const char* what) {
  if (!holds && failures++ < 5) printf("rank %d: %s: other bytes\n", rank, what);
}

/* The arguments of a call, and its buffers: sent, received, and as they should be. */
struct call {
  enum form form;
  MPI_Comm comm;
  int in, out, equal; /* neighbours; elements in each block, where all are alike */
  int sendcounts[ranks_max], recvcounts[ranks_max], sdispls[ranks_max], rdispls[ranks_max];
  int sbytes[ranks_max], rbytes[ranks_max];
  MPI_Aint sends_at[ranks_max], receives_at[ranks_max];
  MPI_Datatype sendtypes[ranks_max], recvtypes[ranks_max];
  size_t ints;
  int *send, *receive, *expected;
  MPI_Request request;
  MPI_Datatype pair, gapped;
};

/* The next rank is a neighbour, and gets something. */
static int is_edge(unsigned seed, int from, int to) {
  return to == (from + 1) % size || drawn(seed, (unsigned)from, (unsigned)to) % 4 != 0;
}
static int elements(unsigned seed, int from, int to, int is_gather) {
  return (int)(drawn(seed, (unsigned)from, is_gather ? 0 : (unsigned)to) % 5) + (is_gather || to == (from + 1) % size);
}

/* The neighbours of a random graph, itself among them at times. */
static MPI_Comm random_graph(unsigned seed) {
  int sources[ranks_max] = {0}, destinations[ranks_max] = {0}, in = 0, out = 0;
  for (int i = 0; i < size && i < ranks_max; ++i) {
    if (is_edge(seed, i, rank)) sources[in++] = i;
    if (is_edge(seed, rank, i)) destinations[out++] = i;
  }
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, sources, out, destinations, destinations, MPI_INFO_NULL,
                                 0, &graph);
  return graph;
}

static void prepare(struct call* c, enum form form, unsigned seed, int scale, MPI_Comm comm) {
  memset(c, 0, sizeof *c);
  const int is_of_all = form <= alltoallw, is_gather = form >= n_allgather, room = 36 * scale;
  c->form = form, c->comm = comm, c->equal = (1 + (int)(drawn(seed, 5, 5) % 4)) * scale;
  MPI_Type_contiguous(2, MPI_INT, &c->pair), MPI_Type_commit(&c->pair);
  MPI_Type_vector(2, 1, 3, MPI_INT, &c->gapped), MPI_Type_commit(&c->gapped);
  for (int i = 0; i < size; ++i) {
    const unsigned self = (unsigned)rank, other = (unsigned)i;
    const MPI_Datatype types[] = {MPI_INT, c->pair, c->gapped};
    if (is_of_all || is_edge(seed, rank, i)) {
      const int at = c->out++;
      c->sendcounts[at] = elements(seed, rank, i, is_gather) * scale;
      c->sendtypes[at] = types[drawn(seed + 1, self, other) % 3];
      c->sdispls[at] = room * at;
    }
    if (is_of_all || is_edge(seed, i, rank)) {
      const int at = c->in++;
      c->recvcounts[at] = elements(seed, i, rank, is_gather) * scale;
      c->recvtypes[at] = types[drawn(seed + 1, other, self) % 3];
      c->rdispls[at] = room * (size - 1 - at);
    }
  }
  for (int i = 0; i < size; ++i) {
    c->sbytes[i] = (int)sizeof(int) * c->sdispls[i], c->rbytes[i] = (int)sizeof(int) * c->rdispls[i];
    c->sends_at[i] = c->sbytes[i], c->receives_at[i] = c->rbytes[i];
  }
  c->ints = (size_t)(room * (size + 1));
  c->send = malloc(3 * c->ints * sizeof(int));
  c->receive = c->send + c->ints, c->expected = c->receive + c->ints;
}

static void end(struct call* c) {
  MPI_Type_free(&c->pair), MPI_Type_free(&c->gapped);
  free(c->send);
}

static int gathered(const struct call* c, unsigned seed, int scale) {
  return c->form == n_allgatherv ? elements(seed, rank, 0, 1) * scale : c->equal;
}

static void copy_types(MPI_Datatype* types, int count) {
  for (int i = 0; i < count; ++i)
    if (types[i] != MPI_INT) MPI_Type_dup(types[i], &types[i]);
}
static void free_types(MPI_Datatype* types, int count) {
  for (int i = 0; i < count; ++i)
    if (types[i] != MPI_INT) MPI_Type_free(&types[i]);
}

/* Of its own datatypes, which are freed at once: Open MPI 4.1 itself needs them until the end. */
static void make(struct call* of, unsigned seed, int scale) {
  struct call own_types = *of;
  struct call* const c = are_ours ? &own_types : of;
  if (are_ours) copy_types(c->sendtypes, c->out), copy_types(c->recvtypes, c->in);
  const int n = c->equal, own = gathered(c, seed, scale);
  const MPI_Info info = MPI_INFO_NULL;
  MPI_Request* const r = &of->request;
  int *const from = c->send, *const to = c->receive;
  switch (c->form) {
    case alltoall: INIT(Alltoall)(from, n, MPI_INT, to, n, MPI_INT, c->comm, info, r); break;
    case alltoallv:
      INIT(Alltoallv)
      (from, c->sendcounts, c->sdispls, MPI_INT, to, c->recvcounts, c->rdispls, MPI_INT, c->comm, info, r);
      break;
    case alltoallw:
      INIT(Alltoallw)
      (from, c->sendcounts, c->sbytes, c->sendtypes, to, c->recvcounts, c->rbytes, c->recvtypes, c->comm, info, r);
      break;
    case n_alltoall: INIT(Neighbor_alltoall)(from, n, MPI_INT, to, n, MPI_INT, c->comm, info, r); break;
    case n_alltoallv:
      INIT(Neighbor_alltoallv)
      (from, c->sendcounts, c->sdispls, MPI_INT, to, c->recvcounts, c->rdispls, MPI_INT, c->comm, info, r);
      break;
    case n_alltoallw:
      INIT(Neighbor_alltoallw)
      (from, c->sendcounts, c->sends_at, c->sendtypes, to, c->recvcounts, c->receives_at, c->recvtypes, c->comm, info,
       r);
      break;
    case n_allgather: INIT(Neighbor_allgather)(from, n, MPI_INT, to, n, MPI_INT, c->comm, info, r); break;
    default: INIT(Neighbor_allgatherv)(from, own, MPI_INT, to, c->recvcounts, c->rdispls, MPI_INT, c->comm, info, r);
  }
  if (are_ours) free_types(c->sendtypes, c->out), free_types(c->recvtypes, c->in);
}

/* New data, and what the library's call brings of it. */
static void renew(struct call* c, unsigned seed, int scale, int round) {
  const int n = c->equal, own = gathered(c, seed, scale);
  int *const from = c->send, *const to = c->expected;
  for (size_t i = 0; i < c->ints; ++i) {
    c->send[i] = (int)drawn((unsigned)round, (unsigned)rank, (unsigned)i);
    c->receive[i] = c->expected[i] = untouched;
  }
  switch (c->form) {
    case alltoall: PMPI_Alltoall(from, n, MPI_INT, to, n, MPI_INT, c->comm); break;
    case alltoallv:
      PMPI_Alltoallv(from, c->sendcounts, c->sdispls, MPI_INT, to, c->recvcounts, c->rdispls, MPI_INT, c->comm);
      break;
    case alltoallw:
      PMPI_Alltoallw(from, c->sendcounts, c->sbytes, c->sendtypes, to, c->recvcounts, c->rbytes, c->recvtypes, c->comm);
      break;
    case n_alltoall: PMPI_Neighbor_alltoall(from, n, MPI_INT, to, n, MPI_INT, c->comm); break;
    case n_alltoallv:
      PMPI_Neighbor_alltoallv(from, c->sendcounts, c->sdispls, MPI_INT, to, c->recvcounts, c->rdispls, MPI_INT,
                              c->comm);
      break;
    case n_alltoallw: /* MPICH 4.0 mixes up the counts (pmodels/mpich issue 6233), so by messages */
    {
      MPI_Request requests[2 * ranks_max];
      int sources[ranks_max], destinations[ranks_max], weights[2][ranks_max], k = 0;
      MPI_Dist_graph_neighbors(c->comm, c->in, sources, weights[0], c->out, destinations, weights[1]);
      for (int i = 0; i < c->in; ++i)
        PMPI_Irecv((char*)to + c->rbytes[i], c->recvcounts[i], c->recvtypes[i], sources[i], 7, c->comm, &requests[k++]);
      for (int i = 0; i < c->out; ++i)
        PMPI_Isend((char*)from + c->sbytes[i], c->sendcounts[i], c->sendtypes[i], destinations[i], 7, c->comm,
                   &requests[k++]);
      for (int i = 0; i < k; ++i) PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    }
    case n_allgather: PMPI_Neighbor_allgather(from, n, MPI_INT, to, n, MPI_INT, c->comm); break;
    default: PMPI_Neighbor_allgatherv(from, own, MPI_INT, to, c->recvcounts, c->rdispls, MPI_INT, c->comm);
  }
}

static void compare(const struct call* c) {
  require(memcmp(c->receive, c->expected, c->ints * sizeof(int)) == 0, names[c->form]);
}

static int is_empty(const MPI_Status* status) {
  int count = -1, is_cancelled = -1;
  if (!are_ours) return 1; /* those of Open MPI 4.1 are not, of its own persistent collectives */
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &is_cancelled);
  return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 && !is_cancelled;
}

/* Is the second of two requests complete? Asks in each of the ways that MPI has; it stays as it is. */
static int is_complete(MPI_Request* two, int way, MPI_Status* status) {
  int flag = 0;
#if MPI_VERSION > 4
  MPI_Status statuses[2];
  int index = -1, completed = 0, indices[2];
  switch (way % 4) {
    case 1:
      MPI_Request_get_status_all(2, two, &flag, statuses);
      *status = statuses[1];
      return flag;
    case 2:
      MPI_Request_get_status_any(2, two, &index, &flag, status);
      require(!flag || index == 1, "index of Request_get_status_any");
      return flag;
    case 3:
      MPI_Request_get_status_some(2, two, &completed, indices, statuses);
      require(completed == 0 || (completed == 1 && indices[0] == 1), "index of Request_get_status_some");
      *status = statuses[0];
      return completed;
    default: break;
  }
#else
  (void)way;
#endif
  MPI_Request_get_status(two[1], &flag, status);
  return flag;
}

/* Completes one request in each of the ways that MPI has. */
static void complete(MPI_Request* request, int way) {
#if defined(MPICH_VERSION)
  if (!are_ours && (way % 9 == 3 || way % 9 == 7)) way = 0;
#endif
  const MPI_Request before = *request;
  MPI_Status status, statuses[2];
  MPI_Request two[2] = {MPI_REQUEST_NULL, *request};
  int flag = 0, index = -1, completed = 0, indices[2];
  memset(&status, 7, sizeof status);
  switch (way % 9) {
    case 0: MPI_Wait(request, &status); break;
    case 1: MPI_Wait(request, MPI_STATUS_IGNORE); return;
    case 2:
      while (!flag) MPI_Test(request, &flag, &status);
      break;
    case 3: MPI_Waitall(2, two, statuses), status = statuses[1]; break;
    case 4:
      MPI_Waitany(2, two, &index, &status);
      require(index == 1, "index of Waitany");
      break;
    case 5:
      MPI_Waitsome(2, two, &completed, indices, statuses), status = statuses[0];
      require(completed == 1 && indices[0] == 1, "index of Waitsome");
      break;
    case 6:
      while (!flag) MPI_Testany(2, two, &index, &flag, &status);
      require(index == 1, "index of Testany");
      break;
    case 7:
      while (!flag) MPI_Testall(2, two, &flag, statuses);
      status = statuses[1];
      break;
    default:
      while (!is_complete(two, way / 9, &status)) continue;
      require(is_empty(&status), "status asked for");
      MPI_Testsome(2, two, &completed, indices, statuses), status = statuses[0];
      require(completed == 1 && indices[0] == 1, "index of Testsome");
  }
  require(is_empty(&status), "status");
  require(*request == before && two[1] == before, "request");
#if defined(MPICH_VERSION)
  if (!are_ours) return;
#endif
  MPI_Waitany(1, request, &index, &status); /* inactive */
  require(index == MPI_UNDEFINED, "index of no active request");
}

static void random_exchanges(int cases, int rounds) {
  for (int number = 0; number < cases; ++number) {
    const unsigned seed = 100u + (unsigned)number;
    const enum form form = (enum form)(number % forms);
    const int scale = number % 3 == 2 ? 2000 : 1;
    struct call c;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (form > alltoallw) comm = random_graph(seed);
    prepare(&c, form, seed, scale, comm);
    make(&c, seed, scale);
    for (int round = 0; round < rounds; ++round) {
      renew(&c, seed, scale, round);
      MPI_Start(&c.request);
      complete(&c.request, round + number);
      compare(&c);
    }
    renew(&c, seed, scale, rounds);
    MPI_Startall(1, &c.request);
    MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    compare(&c);
    const int is_freed_first = number % 2 && comm != MPI_COMM_WORLD;
    if (is_freed_first) MPI_Comm_free(&comm);
    MPI_Request_free(&c.request);
    require(c.request == MPI_REQUEST_NULL, "freed request");
    if (!is_freed_first && comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    end(&c);
  }
}

/* Several collectives among messages, completed in orders that differ from rank to rank. */
static void mixed_waits(int rounds) {
  enum { collectives = 3, all = collectives + 4 };
  struct call calls[collectives];
  MPI_Request requests[all];
  MPI_Status statuses[all];
  int sent[2], received[2];
#if defined(MPICH_VERSION)
  if (!are_ours) return;
#endif
  for (int i = 0; i < collectives; ++i) {
    prepare(&calls[i], (enum form)i, 7u + (unsigned)i, 1, MPI_COMM_WORLD);
    make(&calls[i], 7u + (unsigned)i, 1);
  }
  for (int round = 0; round < rounds; ++round) {
    int left = all - 1, indices[all], completed = 0, index = 0, flag = 0, done[all] = {0};
    for (int i = 0; i < collectives; ++i) renew(&calls[i], 7u + (unsigned)i, 1, round);
    for (int i = 0; i < collectives; ++i) requests[2 * i] = calls[(i + rank) % collectives].request;
    requests[1] = MPI_REQUEST_NULL;
    sent[0] = sent[1] = 100 * round + rank;
    MPI_Irecv(&received[0], 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(&sent[0], 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Issend(&sent[1], 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &requests[6]);
    for (int i = 0; i < collectives; ++i) MPI_Start(&requests[2 * i]);
    MPI_Recv(&received[1], 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (round % 4 == 0) {
      MPI_Waitall(all, requests, statuses);
      require(statuses[3].MPI_SOURCE == (rank + 1) % size && statuses[3].MPI_TAG == 1, "status of a message");
      for (int i = 0; i < collectives; ++i) require(is_empty(&statuses[2 * i]), "status of one of many");
      left = 0;
    }
    while (left > 0) {
      if (round % 4 == 1) {
        MPI_Waitany(all, requests, &index, &statuses[0]);
        indices[0] = index, completed = 1;
      } else if (round % 4 == 2) {
        MPI_Waitsome(all, requests, &completed, indices, statuses);
      } else {
        MPI_Testsome(all, requests, &completed, indices, statuses);
        if (completed == 0) MPI_Testany(all, requests, &indices[0], &flag, &statuses[0]), completed = flag;
      }
      require(completed >= 0 && completed <= left, "number of completed requests");
      for (int i = 0; i < completed; ++i) {
        require(indices[i] >= 0 && indices[i] < all && !done[indices[i]]++, "index of a completed request");
        if (indices[i] == 3) require(statuses[i].MPI_TAG == 1, "status of a message");
        else if (indices[i] % 2 == 0 && indices[i] < 6) require(is_empty(&statuses[i]), "status of one of some");
      }
      left -= completed;
    }
    require(requests[3] == MPI_REQUEST_NULL && requests[5] == MPI_REQUEST_NULL, "requests of messages");
    MPI_Testany(all, requests, &index, &flag, MPI_STATUS_IGNORE);
    require(flag && index == MPI_UNDEFINED, "no active request");
    require(received[0] == 100 * round + (rank + 1) % size && received[1] == received[0], "messages");
    for (int i = 0; i < collectives; ++i) compare(&calls[i]);
  }
  for (int i = 0; i < collectives; ++i) MPI_Request_free(&calls[i].request), end(&calls[i]);
}

/* Rank 0 waits for a message before it waits for the exchange, and the last rank sends it after the exchange: so an
   exchange has to end while a rank that takes part is in another call. */
static void message_between(int rounds) {
  int word = 0;
  for (int number = 0; number < 3; ++number) {
    const int scale = number == 2 ? 5000 : 1;
    struct call c;
    prepare(&c, number == 1 ? alltoallw : alltoallv, 31u, scale, MPI_COMM_WORLD);
    make(&c, 31u, scale);
    for (int round = 0; round < rounds; ++round) {
      renew(&c, 31u, scale, round);
      MPI_Start(&c.request);
      if (rank == 0 && size > 1) MPI_Recv(&word, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&c.request, MPI_STATUS_IGNORE);
      if (rank == size - 1 && size > 1) MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
      compare(&c);
    }
    MPI_Request_free(&c.request);
    end(&c);
  }
}

/* Rank 0 sends to all others, which send nothing back and are late by several exchanges. */
static void one_sided(int rounds) {
  int sendcounts[ranks_max] = {0}, recvcounts[ranks_max] = {0}, displs[ranks_max] = {0};
  int sent[ranks_max], received = 0, word = 0;
  MPI_Request request;
  for (int i = 0; i < size; ++i) sendcounts[i] = rank == 0 && i > 0, displs[i] = i;
  recvcounts[0] = rank > 0;
  INIT(Alltoallv)
  (sent, sendcounts, displs, MPI_INT, &received, recvcounts, displs, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < size; ++i) sent[i] = 1000 * round + i;
    if (rank > 0 && round % 7 == 0)
      for (int i = 0; i < 1000; ++i) MPI_Iprobe(0, 9, MPI_COMM_WORLD, &word, MPI_STATUS_IGNORE);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    require(rank == 0 || received == 1000 * round + rank, "blocks of one rank");
  }
  MPI_Request_free(&request);
}

/* Rank 0 makes the next request while it is in the last exchange of one that all others have freed. */
static void next_before_end(int rounds) {
  int sendcounts[ranks_max] = {0}, recvcounts[ranks_max] = {0}, displs[ranks_max] = {0};
  int sent[2][ranks_max], received[2] = {0, 0};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (int i = 0; i < size; ++i) sendcounts[i] = rank == 0 && i > 0, displs[i] = i;
  recvcounts[0] = rank > 0;
  for (int number = 0; number < 6; ++number) {
    const int now = number % 2, before = 1 - now;
    if (rank > 0 && number > 0) MPI_Wait(&requests[before], MPI_STATUS_IGNORE), MPI_Request_free(&requests[before]);
    INIT(Alltoallv)
    (sent[now], sendcounts, displs, MPI_INT, &received[now], recvcounts, displs, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
     &requests[now]);
    if (rank == 0 && number > 0) MPI_Wait(&requests[before], MPI_STATUS_IGNORE), MPI_Request_free(&requests[before]);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < size; ++i) sent[now][i] = 1000 * round + i;
      MPI_Start(&requests[now]);
      if (round + 1 == rounds) break;
      MPI_Wait(&requests[now], MPI_STATUS_IGNORE);
      require(rank == 0 || received[now] == 1000 * round + rank, "blocks of one of several requests");
    }
  }
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[1]);
}

/* MPI's own answers: in place, without elements, of ranks that disagree, and an error in the arguments. */
static void left_to_mpi(void) {
  int both[ranks_max], nothing[ranks_max] = {0}, counts[ranks_max], displs[ranks_max];
  MPI_Request request;
  for (int i = 0; i < size; ++i) both[i] = 10 * rank + i, counts[i] = 1, displs[i] = i;
  INIT(Alltoallv)
  (both, nothing, nothing, MPI_INT, NULL, nothing, nothing, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  INIT(Alltoall)(MPI_IN_PLACE, 0, MPI_INT, both, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < size; ++i) require(both[i] == 10 * i + rank, "in place");
  MPI_Request_free(&request);
  if (size == 1) return;
  /* The last rank expects less than it gets. It is not started, as MPI says nothing of what would come of it. */
  int received[ranks_max];
  if (rank == size - 1) counts[0] = 0;
  int ones[ranks_max];
  for (int i = 0; i < size; ++i) ones[i] = 1;
  INIT(Alltoallv)
  (both, ones, displs, MPI_INT, received, counts, displs, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  counts[0] = -1;
  request = MPI_REQUEST_NULL;
  const int code =
      INIT(Alltoallv)(both, counts, displs, MPI_INT, received, counts, displs, MPI_INT, copy, MPI_INFO_NULL, &request);
  require(code != MPI_SUCCESS, "an error");
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  int provided = 0;
  const int is_threaded = argc > 2 && strcmp(argv[2], "threads") == 0;
  are_ours = argc > 2 && strcmp(argv[2], "ours") == 0;
  MPI_Init_thread(&argc, &argv, is_threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  random_exchanges(48, rounds);
  mixed_waits(2 * rounds);
  message_between(rounds);
  one_sided(2 * rounds);
  next_before_end(3 * rounds);
  left_to_mpi();
  /* Requests that live until the end. */
  struct call last[2];
  for (int i = 0; i < 2; ++i) {
    prepare(&last[i], alltoallv, 3u, 1, MPI_COMM_WORLD);
    make(&last[i], 3u, 1);
  }
  renew(&last[0], 3u, 1, 0);
  MPI_Start(&last[0].request);
  MPI_Wait(&last[0].request, MPI_STATUS_IGNORE);
  compare(&last[0]);
  for (int i = 0; i < 2; ++i) end(&last[i]);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures) printf("%d comparisons failed\n", failures);
  if (rank == 0 && !failures) printf("all comparisons hold\n");
  MPI_Finalize();
  return failures != 0;
}
