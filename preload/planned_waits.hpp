// MPI's calls of requests, some of which may have plans (planned_requests.hpp). Each has the arguments and the result
// of MPI's. Exchanges of ours and requests of the library are polled by turns where a call waits for any of them.
#pragma once

#include <mpi.h>

namespace commpass::planned {

int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);
int wait(MPI_Request* request, MPI_Status* status);
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses);
int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int test(MPI_Request* request, int* flag, MPI_Status* status);
int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int get_status(MPI_Request request, int* flag, MPI_Status* status);
int free(MPI_Request* request);

}  // namespace commpass::planned
