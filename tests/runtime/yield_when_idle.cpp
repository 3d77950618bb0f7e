// More ranks than cores: MPICH's blocking calls spin, and a rank that spins keeps the one it waits for from running.
// Here they become their non-blocking twins with a yield between tests (PMPI), so that tests take seconds and not
// minutes; and a test without result yields, too. Only for tests of correctness, and only with
// MPICH: Open MPI has mpi_yield_when_idle.
#include <mpi.h>
#include <sched.h>

namespace {

template <class Test>
int poll(Test test) {
  while (true) {
    int done = 0;
    if (const int code = test(&done); code != MPI_SUCCESS || done) return code;
    sched_yield();
  }
}

int complete(int code, MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) {
  if (code != MPI_SUCCESS) return code;
  return poll([&](int* done) { return PMPI_Test(&request, done, status); });
}

/// For a persistent collective alone, and for many requests of which only the first ones are persistent, PMPI_Testall
/// of MPICH 4.0 fails, where PMPI_Waitall, whose place this takes, does not.
int test_all(int count, MPI_Request requests[], int* done, MPI_Status statuses[]) {
  constexpr int at_a_time = 64;
  if (statuses == MPI_STATUSES_IGNORE && count > at_a_time) {
    for (int begin = 0; begin < count; begin += at_a_time)
      if (const int code =
              test_all(count - begin < at_a_time ? count - begin : at_a_time, requests + begin, done, statuses);
          code != MPI_SUCCESS || !*done)
        return code;
    return MPI_SUCCESS;
  }
  if (count != 1) return PMPI_Testall(count, requests, done, statuses);
  const bool is_ignored = statuses == MPI_STATUSES_IGNORE;
  const int code = PMPI_Test(requests, done, is_ignored ? MPI_STATUS_IGNORE : statuses);
  if (code == MPI_SUCCESS || is_ignored) return code;
  statuses->MPI_ERROR = code;
  return MPI_ERR_IN_STATUS;
}

}  // namespace

// Weak: a test may have its own.
#define WEAK __attribute__((weak))

extern "C" {

WEAK int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const int code = PMPI_Test(request, done, status);
  if (!*done) sched_yield();
  return code;
}
WEAK int MPI_Testall(int count, MPI_Request requests[], int* done, MPI_Status statuses[]) {
  const int code = PMPI_Testall(count, requests, done, statuses);
  if (!*done) sched_yield();
  return code;
}
WEAK int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  const int code = PMPI_Iprobe(source, tag, comm, found, status);
  if (!*found) sched_yield();
  return code;
}
WEAK int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return poll([&](int* done) { return PMPI_Test(request, done, status); });
}
WEAK int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return poll([&](int* done) { return test_all(count, requests, done, statuses); });
}
WEAK int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return poll([&](int* found) { return PMPI_Iprobe(source, tag, comm, found, status); });
}
WEAK int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Irecv(buffer, count, type, source, tag, comm, &request), request, status);
}
WEAK int MPI_Barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Ibarrier(comm, &request), request);
}
WEAK int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Ibcast(buffer, count, type, root, comm, &request), request);
}
WEAK int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Iallreduce(send, receive, count, type, op, comm, &request), request);
}
WEAK int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                       MPI_Datatype type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Iallgather(send, send_count, send_type, receive, count, type, comm, &request), request);
}
WEAK int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Igather(send, send_count, send_type, receive, count, type, root, comm, &request), request);
}
WEAK int MPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int counts[],
                     const int offsets[], MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Igatherv(send, send_count, send_type, receive, counts, offsets, type, root, comm, &request),
                  request);
}
WEAK int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Ireduce_scatter_block(send, receive, count, type, op, comm, &request), request);
}
WEAK int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* result) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Comm_idup(comm, result, &request), request);
}

#ifdef COMMPASS_YIELD_BEHIND_PRELOADED
// Preloaded behind libcommpass-mpi, whose calls of PMPI come here, too.
WEAK int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                      MPI_Datatype type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(PMPI_Ialltoall(send, send_count, send_type, receive, count, type, comm, &request), request);
}
WEAK int MPI_Alltoallv(const void* send, const int send_counts[], const int send_offsets[], MPI_Datatype send_type,
                       void* receive, const int counts[], const int offsets[], MPI_Datatype type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(
      PMPI_Ialltoallv(send, send_counts, send_offsets, send_type, receive, counts, offsets, type, comm, &request),
      request);
}
WEAK int MPI_Alltoallw(const void* send, const int send_counts[], const int send_offsets[],
                       const MPI_Datatype send_types[], void* receive, const int counts[], const int offsets[],
                       const MPI_Datatype types[], MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return complete(
      PMPI_Ialltoallw(send, send_counts, send_offsets, send_types, receive, counts, offsets, types, comm, &request),
      request);
}

#define BEHIND(call) decltype(MPI_##call) PMPI_##call __attribute__((alias("MPI_" #call)));
BEHIND(Wait)
BEHIND(Waitall)
BEHIND(Probe)
BEHIND(Recv)
BEHIND(Barrier)
BEHIND(Bcast)
BEHIND(Allreduce)
BEHIND(Allgather)
BEHIND(Gather)
BEHIND(Gatherv)
BEHIND(Reduce_scatter_block)
BEHIND(Alltoall)
BEHIND(Alltoallv)
BEHIND(Alltoallw)
BEHIND(Comm_dup)
#endif

}  // extern "C"
