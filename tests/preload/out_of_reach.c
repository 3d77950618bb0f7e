/* A program whose calls no library can take over: it calls MPI by the names that MPI keeps for tools. */
#include <mpi.h>

int main(int argc, char** argv) {
  int sent = 1, received = 0;
  PMPI_Init(&argc, &argv);
  PMPI_Alltoall(&sent, 1, MPI_INT, &received, 1, MPI_INT, MPI_COMM_SELF);
  return PMPI_Finalize();
}
