/* A program that knows nothing of Commpass, and of whose calls few are watched. They change their size by turns, two
   communicators take turns, and one of them is freed and made anew: its handle may come again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { calls = 9000, lives = 3, ints_max = 16 };

int main(int argc, char** argv) {
  int rank, size, failures = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* send = malloc(sizeof(int) * (size_t)(size * ints_max));
  int* receive = malloc(sizeof(int) * (size_t)(size * ints_max));
  for (int life = 0; life < lives; ++life) {
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
    MPI_Comm_split(MPI_COMM_WORLD, 0, life % 2 ? -rank : rank, &comms[1]);
    for (int call = 0; call < calls / lives; ++call)
      for (int which = 0; which < 2; ++which) {
        const int count = call % 2 ? 1 : ints_max;
        int me;
        MPI_Comm_rank(comms[which], &me);
        for (int i = 0; i < size * count; ++i) send[i] = 1000 * me + i / count + call, receive[i] = -1;
        MPI_Alltoall(send, count, MPI_INT, receive, count, MPI_INT, comms[which]);
        for (int i = 0; i < size * count; ++i) failures += receive[i] != 1000 * (i / count) + me + call;
      }
    MPI_Comm_free(&comms[1]);
  }
  free(send);
  free(receive);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(failures ? "%d comparisons failed\n" : "all comparisons hold\n", failures);
  MPI_Finalize();
  return failures != 0;
}
