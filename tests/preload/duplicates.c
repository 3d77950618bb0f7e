/* Two threads of each rank make ever new duplicates of a communicator of theirs, and free them in different orders. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { rounds = 60, kept = 4, calls = 5 };

static int rank, size;

static void* work(void* parent) {
  int* send = calloc((size_t)size, sizeof(int));
  int* receive = calloc((size_t)size, sizeof(int));
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm duplicates[kept];
    for (int i = 0; i < kept; ++i) {
      MPI_Comm_dup(*(MPI_Comm*)parent, &duplicates[i]);
      for (int call = 0; call < calls; ++call) MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, duplicates[i]);
    }
    for (int i = 0; i < kept; ++i) MPI_Comm_free(&duplicates[rank % 2 ? kept - 1 - i : i]);
  }
  free(send), free(receive);
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm parents[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, &parents[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  MPI_Finalize();
  return 0;
}
