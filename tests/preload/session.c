/* A program that knows nothing of Commpass, and exchanges on a communicator of a session. */
#include <mpi.h>
#include <stdio.h>

enum { most_ranks = 64 };

int main(void) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  int rank, size, send[most_ranks], receive[most_ranks], failures = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < size; ++i) send[i] = 100 * rank + i;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
  for (int i = 0; i < size; ++i) failures += receive[i] != 100 * i + rank;
  if (failures) printf("%d comparisons failed\n", failures);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return failures != 0;
#else
  puts("this MPI library has no sessions");
  return 0;
#endif
}
