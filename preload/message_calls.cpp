// The calls of messages and requests, for C, each with MPI's own arguments. MPI runs them, but for exchanges with plans
// (planned_requests.hpp), and records count them.
#include <mpi.h>

#include <cstddef>
#include <span>

#include "preload/counted_call.hpp"
#include "preload/planned_requests.hpp"

namespace {

using namespace commpass;  // NOLINT(google-build-using-namespace): MPI's functions are in no namespace

}  // namespace

// MPI's own names, and MPI's own parameters. The macros are those of calls.cpp.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

#define COMMPASS_COUNT int
#define COMMPASS_TAKEN(name) MPI_##name
#define COMMPASS_LIBRARY(name) PMPI_##name
#include "preload/message_calls.hpp"

int MPI_Start(MPI_Request* request) {
  if (may_be_planned()) return planned::start(request);
  return count_call<CountedCall::start>(
      __builtin_return_address(0), [&] { return PMPI_Start(request); },
      [&](MessageLog& log, const MessageCall& of) {
        log.start(of, {request, 1});
      });
}

int MPI_Startall(int count, MPI_Request* requests) {
  if (may_be_planned()) return planned::start_all(count, requests);
  return count_call<CountedCall::startall>(
      __builtin_return_address(0), [&] { return PMPI_Startall(count, requests); },
      [&](MessageLog& log, const MessageCall& of) {
        log.start(of, {requests, static_cast<std::size_t>(count)});
      });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (may_be_planned()) return planned::wait(request, status);
  const int active = active_requests(1, request);
  return count_call<CountedCall::wait>(
      __builtin_return_address(0), [&] { return PMPI_Wait(request, status); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, active); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (may_be_planned()) return planned::wait_all(count, requests, statuses);
  const int active = active_requests(count, requests);
  return count_call<CountedCall::waitall>(
      __builtin_return_address(0), [&] { return PMPI_Waitall(count, requests, statuses); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, active); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (may_be_planned()) return planned::wait_any(count, requests, index, status);
  return count_call<CountedCall::waitany>(
      __builtin_return_address(0), [&] { return PMPI_Waitany(count, requests, index, status); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, *index != MPI_UNDEFINED ? 1 : 0); });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (may_be_planned()) return planned::wait_some(count, requests, completed, indices, statuses);
  return count_call<CountedCall::waitsome>(
      __builtin_return_address(0), [&] { return PMPI_Waitsome(count, requests, completed, indices, statuses); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, *completed != MPI_UNDEFINED ? *completed : 0); });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (may_be_planned()) return planned::test(request, flag, status);
  const int active = active_requests(1, request);
  return count_call<CountedCall::test>(
      __builtin_return_address(0), [&] { return PMPI_Test(request, flag, status); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, *flag ? active : 0); });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (may_be_planned()) return planned::test_all(count, requests, flag, statuses);
  const int active = active_requests(count, requests);
  return count_call<CountedCall::testall>(
      __builtin_return_address(0), [&] { return PMPI_Testall(count, requests, flag, statuses); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, *flag ? active : 0); });
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (may_be_planned()) return planned::test_any(count, requests, index, flag, status);
  return count_call<CountedCall::testany>(
      __builtin_return_address(0), [&] { return PMPI_Testany(count, requests, index, flag, status); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, *flag && *index != MPI_UNDEFINED ? 1 : 0); });
}

int MPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (may_be_planned()) return planned::test_some(count, requests, completed, indices, statuses);
  return count_call<CountedCall::testsome>(
      __builtin_return_address(0), [&] { return PMPI_Testsome(count, requests, completed, indices, statuses); },
      [&](MessageLog& log, const MessageCall& of) { log.complete(of, *completed != MPI_UNDEFINED ? *completed : 0); });
}

int MPI_Request_free(MPI_Request* request) {
  if (may_be_planned()) return planned::free(request);
  const auto freed = request ? *request : MPI_REQUEST_NULL;
  return count_call<CountedCall::request_free>(
      __builtin_return_address(0), [&] { return PMPI_Request_free(request); },
      [&](MessageLog& log, const MessageCall& of) { log.release(of, freed); });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return may_be_planned() ? planned::get_status(request, flag, status) : PMPI_Request_get_status(request, flag, status);
}

#ifdef COMMPASS_MPI_ABI
int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  return may_be_planned() ? planned::get_status_all(count, requests, flag, statuses)
                          : PMPI_Request_get_status_all(count, requests, flag, statuses);
}

int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  return may_be_planned() ? planned::get_status_any(count, requests, index, flag, status)
                          : PMPI_Request_get_status_any(count, requests, index, flag, status);
}

int MPI_Request_get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                                MPI_Status* statuses) {
  return may_be_planned() ? planned::get_status_some(count, requests, completed, indices, statuses)
                          : PMPI_Request_get_status_some(count, requests, completed, indices, statuses);
}
#endif

#if MPI_VERSION >= 4
#undef COMMPASS_COUNT
#undef COMMPASS_TAKEN
#undef COMMPASS_LIBRARY
#define COMMPASS_COUNT MPI_Count
#define COMMPASS_TAKEN(name) MPI_##name##_c
#define COMMPASS_LIBRARY(name) PMPI_##name##_c
#include "preload/message_calls.hpp"
#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
