/* A program that knows nothing of Commpass and survives errors by itself: on one rank a count is too small for the
   block that comes, in some calls. The errors of its communicator are returned, those of MPI_COMM_WORLD are fatal.
     disagreeing [own] [forwarded]
   own: the block is one that the rank sends to itself. forwarded: ranks that pass blocks on may lose those of others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 24, most_ranks = 64, width = 32, usual = 8, too_few = 4, untouched = 0x5a };

static int rank, size, failures, handled, is_own, is_forwarded;

static void check(const char* what, int call, int is_right) {
  if (is_right) return;
  if (failures++ < 10) fprintf(stderr, "rank %d of %d, call %d: %s: other bytes\n", rank, size, call, what);
}

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static unsigned char letter(int from, int to, int call) {
  return (unsigned char)(1 + (31 * from + 7 * to + call) % 80);
}

static unsigned char sent[most_ranks * width], got[most_ranks * width];

static void fill(int call) {
  for (int to = 0; to < size; ++to) memset(sent + width * to, letter(rank, to, call), width);
  memset(got, untouched, sizeof got);
}

/* Expects `counts` bytes from each, which lie `width` apart; `wrong` sends more. */
static void check_call(const char* what, int call, int code, int before, const int* counts, int wrong) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (wrong >= 0) check(what, call, error_class == MPI_ERR_TRUNCATE && handled == before + 1);
  else if (!is_forwarded) check(what, call, code == MPI_SUCCESS && handled == before);
  for (int from = 0; from < size; ++from)
    for (int k = 0; k < width; ++k)
      if (k >= counts[from] || code == MPI_SUCCESS)
        check(what, call, got[width * from + k] == (k < counts[from] ? letter(from, rank, call) : untouched));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; ++i) is_own |= !strcmp(argv[i], "own"), is_forwarded |= !strcmp(argv[i], "forwarded");
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  int all[most_ranks], counts[most_ranks], places[most_ranks];
  MPI_Datatype types[most_ranks];
  for (int i = 0; i < size; ++i) all[i] = usual, places[i] = width * i, types[i] = MPI_BYTE;
  for (int call = 0; call < calls; ++call) {
    const int is_wrong = call % 5 == 4, wrong = is_wrong && rank == 1 ? (is_own ? 1 : 0) : -1;
    memcpy(counts, all, sizeof all);
    if (wrong >= 0) counts[wrong] = too_few;
    int before = handled;
    fill(call);
    check_call("alltoallv", call, MPI_Alltoallv(sent, all, places, MPI_BYTE, got, counts, places, MPI_BYTE, comm),
               before, counts, wrong);
    before = handled;
    fill(call);
    check_call("alltoallw", call, MPI_Alltoallw(sent, all, places, types, got, counts, places, types, comm), before,
               counts, wrong);
  }
  MPI_Errhandler of_world;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world);
  check("the handler of MPI_COMM_WORLD", calls, of_world == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures) printf("%d comparisons failed\n", failures);
  if (rank == 0 && !failures) printf("all comparisons hold\n");
  MPI_Finalize();
  return failures != 0;
}
