/* Messages that are known, for records to be compared with. */
#include <mpi.h>
#include <stdlib.h>

enum {
  ring_phases = 50,
  halo_phases = 20,
  persistent_phases = 30,
  pair_calls = 10,
  reversed_phases = 5,
  polled_phases = 7,
  accesses = 3,
  alone_calls = 4,
  odd_phases = 40
};

static int rank, size;
/* MPICH has an address without memory here; g++ 12 warns where it knows the value. */
static MPI_Status* volatile const ignored_statuses = MPI_STATUSES_IGNORE;

static void check(int is_right) {
  if (!is_right) MPI_Abort(MPI_COMM_WORLD, 7);
}

/* To both neighbours of a ring: more bytes in each phase. */
static void send_around(MPI_Comm comm, int me, int phases) {
  const int next = (me + 1) % size, before = (me + size - 1) % size;
  double* out = calloc((size_t)phases + 1, sizeof(double));
  double* in = calloc(2 * ((size_t)phases + 1), sizeof(double));
  for (int i = 0; i < phases; ++i) {
    MPI_Request requests[4];
    MPI_Irecv(in, i + 1, MPI_DOUBLE, before, 1, comm, &requests[0]);
    MPI_Irecv(in + phases, i + 1, MPI_DOUBLE, next, 2, comm, &requests[1]);
    out[0] = me + i;
    MPI_Isend(out, i + 1, MPI_DOUBLE, next, 1, comm, &requests[2]);
    MPI_Isend(out, i + 1, MPI_DOUBLE, before, 2, comm, &requests[3]);
    MPI_Waitall(4, requests, ignored_statuses);
    check(in[0] == before + i);
  }
  free(out), free(in);
}

/* From one place, since the compiler cannot inline it. */
static void (*volatile const ring)(MPI_Comm, int, int) = send_around;

/* A halo without ends: a receive, a send that blocks, a wait. */
static volatile int no_rank = MPI_PROC_NULL; /* else the compiler makes two loops, with places of their own */
static void halo(void) {
  const int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  char out[100] = {0}, in[100];
  for (int i = 0; i < halo_phases; ++i) {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(in, 100, MPI_CHAR, before, 3, MPI_COMM_WORLD, &request);
    MPI_Send(out, 100, MPI_CHAR, next, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    check(status.MPI_SOURCE == before || before == no_rank);
  }
}

static void persistent(void) {
  int out = rank, in = -1;
  MPI_Request requests[2];
  MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < persistent_phases; ++i) {
    if (i % 2) MPI_Startall(2, requests);
    else MPI_Start(&requests[0]), MPI_Start(&requests[1]);
    for (int left = 2, at; left > 0; --left) MPI_Waitany(2, requests, &at, MPI_STATUS_IGNORE);
    check(in == (rank + size - 1) % size);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void polled(void) {
  for (int i = 0; i < polled_phases; ++i) {
    int out = rank, in[2], is_done = 0;
    MPI_Request requests[2];
    MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(&out, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[1]);
    while (!is_done) MPI_Testall(2, requests, &is_done, ignored_statuses);
  }
}

static void access_windows(void) {
  double *shared, own[4] = {1, 2, 3, 4};
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  for (int i = 0; i < accesses; ++i) {
    MPI_Win_fence(0, window);
    MPI_Put(own, 2, MPI_DOUBLE, (rank + 1) % size, 0, 2, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(own, 1, MPI_DOUBLE, 0, 3, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(0, window);
    check(shared[0] == 1 && shared[1] == 2);
  }
  MPI_Win_free(&window);
}

/* One rank sends to another, which is no exchange. */
static void alone(void) {
  int number = rank;
  for (int i = 0; i < alone_calls; ++i) {
    if (rank == 0) MPI_Send(&number, 1, MPI_INT, size - 1, 6, MPI_COMM_WORLD);
    if (rank == size - 1) MPI_Recv(&number, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Other partners in each phase: more of these than a record keeps. */
static void odd(void) {
  for (int i = 0; i < odd_phases; ++i) {
    MPI_Request requests[2 * odd_phases];
    int out = rank, in[odd_phases];
    for (int j = 0; j <= i; ++j) {
      MPI_Irecv(&in[j], 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &requests[2 * j]);
      MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[2 * j + 1]);
    }
    for (int left = 2 * (i + 1), done, indices[2 * odd_phases]; left > 0; left -= done)
      MPI_Waitsome(2 * (i + 1), requests, &done, indices, ignored_statuses);
  }
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring(MPI_COMM_WORLD, rank, ring_phases);
  halo();
  persistent();
  polled();
  access_windows();
  alone();
  odd();
  double out = rank, in;
  for (int i = 0; i < pair_calls; ++i)
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, 8, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 8,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(in == (rank + size - 1) % size);

  /* The ranks of a communicator are others; and its handle is used again. */
  for (int i = 0; i < 2; ++i) {
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, i == 0 ? size - rank : rank, &reversed);
    int me;
    MPI_Comm_rank(reversed, &me);
    ring(reversed, me, reversed_phases);
    MPI_Comm_free(&reversed);
  }

  /* An error that the program deals with. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Request request;
  int class;
  const int code = MPI_Isend(&out, 1, MPI_DOUBLE, size + 1, 9, MPI_COMM_WORLD, &request);
  check(code != MPI_SUCCESS);
  MPI_Error_class(code, &class);
  check(class == MPI_ERR_RANK);
  MPI_Finalize();
  return 0;
}
