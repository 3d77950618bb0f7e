/* Does the heap of a program shrink as without libcommpass-mpi? Blocks of the program lie in it; exchanges of many
   patterns follow, each of which libcommpass-mpi remembers; then the blocks are freed, and glibc trims the heap. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  blocks = 1000,
  block_bytes = 60000,
  small_blocks = 20000,
  patterns = 17,
  ranks_max = 16,
  numbers_max = 128,
  kept_bytes_max = 1 << 20
};

static int rank, size;

static void exchange(int bytes) { /* allocates nothing itself: freed blocks may stay in caches at the heap's end */
  static int sent[ranks_max], received[ranks_max], places[ranks_max];
  static char send[patterns], receive[patterns];
  sent[(rank + 1) % size] = received[(rank + size - 1) % size] = bytes;
  MPI_Alltoallv(send, sent, places, MPI_CHAR, receive, received, places, MPI_CHAR, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static void *block[blocks], *small[small_blocks];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < patterns; ++i) exchange(1); /* what the MPI library allocates, too */
  for (int i = 0; i < small_blocks; ++i) small[i] = malloc((size_t)(16 + i % 500)); /* takes the holes */
  for (int n = 1; n <= numbers_max; ++n) { /* what reductions of libcommpass-mpi need is in malloc's caches then */
    static double numbers[numbers_max];
    MPI_Allreduce(MPI_IN_PLACE, numbers, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  const char* const before = sbrk(0);
  for (int i = 0; i < blocks; ++i) block[i] = malloc(block_bytes);
  for (int i = 2; i <= patterns; ++i) exchange(i);
  for (int i = 0; i < blocks; ++i) free(block[i]);
  const int shrinks = (const char*)sbrk(0) - before < kept_bytes_max;
  for (int i = 0; i < small_blocks; ++i) free(small[i]);
  if (!shrinks) printf("the heap keeps %ld bytes\n", (long)((const char*)sbrk(0) - before));
  int all = 0;
  MPI_Allreduce(&shrinks, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0 && all) puts("the heap shrinks");
  MPI_Finalize();
  return 0;
}
