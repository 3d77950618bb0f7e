/* A program that knows nothing of Commpass, and exchanges on a communicator that it does not free.
     last_calls [free]
   It exchanges also in MPI_Finalize, in the callback of an attribute of MPI_COMM_SELF, which may free it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { calls = 12, most_ranks = 64 };

static int rank, size, failures;
static MPI_Comm comm;

static void exchange(void) {
  for (int call = 0; call < calls; ++call) {
    int send[most_ranks], receive[most_ranks];
    for (int i = 0; i < size; ++i) send[i] = 1000 * rank + 10 * i + call, receive[i] = -1;
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) failures += receive[i] != 1000 * i + 10 * rank + call;
  }
}

static int last(MPI_Comm self, int key, void* is_freed, void* extra) {
  (void)self, (void)key, (void)extra;
  exchange();
  if (is_freed) MPI_Comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures) fprintf(stderr, "%d comparisons failed\n", failures);
  if (rank == 0 && !failures) fprintf(stderr, "all comparisons hold\n");
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  exchange();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, argc > 1 && !strcmp(argv[1], "free") ? &comm : NULL);
  MPI_Finalize();
  return failures != 0;
}
