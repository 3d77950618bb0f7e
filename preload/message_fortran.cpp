// The calls of messages and requests from Fortran, by the names of Open MPI's bindings, as fortran.cpp has others. The
// binding runs them with the program's own arguments, so that only counted arguments are turned into C. Where requests
// may have plans, those of requests are turned into C (fortran_requests.hpp).
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "preload/counted_call.hpp"
#include "preload/fortran_arguments.hpp"
#include "preload/fortran_requests.hpp"
#include "preload/planned_requests.hpp"

using namespace commpass;  // NOLINT(google-build-using-namespace): Fortran's functions are in no namespace
using namespace commpass::fortran;

namespace {

/// The binding's function, which other libraries may keep to themselves.
template <class Function>
Function* find_binding(const char* name, const void* caller) {
  return reinterpret_cast<Function*>(const_cast<void*>(address_of(name, caller)));  // NOLINT: as dlsym gives it
}

/// What the binding `name` does with the status of a request.
void get_status(const char* name, const void* caller, MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status,
                MPI_Fint* ierr) {
  if (may_be_planned()) return get_status_in_c(caller, request, flag, status, ierr);
  auto* const binding = find_binding<void(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)>(name, caller);
  if (!binding) return return_code(ierr, MPI_ERR_INTERN);
  MPI_Fint own_code = MPI_SUCCESS;
  binding(request, flag, status, ierr ? ierr : &own_code);
}

/// @param ierr  where the binding leaves MPI's code; null where the program leaves it out
template <CountedCall call, class Binding, class Add, class... Arguments>
void count_binding(const void* caller, Binding* binding, const Add& add, MPI_Fint* ierr, Arguments... arguments) {
  if (!binding) return return_code(ierr, MPI_ERR_INTERN);
  MPI_Fint own_code = MPI_SUCCESS;
  auto* const code = ierr ? ierr : &own_code;
  count_call<call>(
      caller,
      [&] {
        binding(arguments..., code);
        return static_cast<int>(*code);
      },
      add);
}

int active_requests(MPI_Fint count, const MPI_Fint* requests) {
  static const MPI_Fint null = PMPI_Request_c2f(MPI_REQUEST_NULL);
  int active = 0;
  for (MPI_Fint i = 0; i < count; ++i) active += requests[i] != null ? 1 : 0;
  return active;
}

Bytes bytes_at(const MPI_Fint* count, const MPI_Fint* type) { return bytes_of(*count, type_of(type)); }
Rank rank_at(const MPI_Fint* comm, const MPI_Fint* rank) { return world_rank(comm_of(comm), *rank); }

}  // namespace

// A function of the binding, and MPI's call that it is; MPI's own names and parameters. PARAMETERS and ARGUMENTS are in
// parentheses, without ierr.
#define COMMPASS_ALL(...) __VA_ARGS__
#define COMMPASS_FUNCTION(function, name, before, parameters, arguments, ...)                                         \
  void function(COMMPASS_ALL parameters, MPI_Fint* ierr) {                                                            \
    const void* const caller = __builtin_return_address(0);                                                           \
    static auto* const binding = find_binding<void(COMMPASS_ALL parameters, MPI_Fint*)>("p" #function, caller);       \
    before;                                                                                                           \
    count_binding<CountedCall::name>(                                                                                 \
        caller, binding, [&](MessageLog& log, const MessageCall& of) { __VA_ARGS__; }, ierr, COMMPASS_ALL arguments); \
  }
// By the names for `use mpi` and mpif.h, and for `use mpi_f08`.
#define COMMPASS_BINDING(name, before, parameters, arguments, ...)                   \
  COMMPASS_FUNCTION(mpi_##name##_, name, before, parameters, arguments, __VA_ARGS__) \
  void ompi_##name##_f(COMMPASS_ALL parameters, MPI_Fint* ierr) __attribute__((alias("mpi_" #name "_")));
// Those whose mpi_f08 passes by the names of Open MPI.
#define COMMPASS_TWO_BINDINGS(name, before, parameters, arguments, ...)              \
  COMMPASS_FUNCTION(mpi_##name##_, name, before, parameters, arguments, __VA_ARGS__) \
  COMMPASS_FUNCTION(mpi_##name##_f08_, name, before, parameters, arguments, __VA_ARGS__)

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier, bugprone-macro-parentheses)
extern "C" {

#define COMMPASS_SEND(name)                                                                                \
  COMMPASS_BINDING(                                                                                        \
      name, , (void* buf, MPI_Fint* count, MPI_Fint* type, MPI_Fint* dest, MPI_Fint* tag, MPI_Fint* comm), \
      (buf, count, type, dest, tag, comm), log.send(of, rank_at(comm, dest), bytes_at(count, type), MakesRequest::no))
COMMPASS_SEND(send)
COMMPASS_SEND(bsend)
COMMPASS_SEND(ssend)
COMMPASS_SEND(rsend)
#undef COMMPASS_SEND

#define COMMPASS_SEND(name, ...)                                                                                      \
  COMMPASS_BINDING(                                                                                                   \
      name, ,                                                                                                         \
      (void* buf, MPI_Fint* count, MPI_Fint* type, MPI_Fint* dest, MPI_Fint* tag, MPI_Fint* comm, MPI_Fint* request), \
      (buf, count, type, dest, tag, comm, request), __VA_ARGS__)
#define COMMPASS_BEGUN \
  log.send(of, rank_at(comm, dest), bytes_at(count, type), made_request(PMPI_Request_f2c(*request)))
#define COMMPASS_PREPARED log.prepare_send(of, PMPI_Request_f2c(*request), rank_at(comm, dest), bytes_at(count, type))
COMMPASS_SEND(isend, COMMPASS_BEGUN)
COMMPASS_SEND(ibsend, COMMPASS_BEGUN)
COMMPASS_SEND(issend, COMMPASS_BEGUN)
COMMPASS_SEND(irsend, COMMPASS_BEGUN)
COMMPASS_SEND(send_init, COMMPASS_PREPARED)
COMMPASS_SEND(bsend_init, COMMPASS_PREPARED)
COMMPASS_SEND(ssend_init, COMMPASS_PREPARED)
COMMPASS_SEND(rsend_init, COMMPASS_PREPARED)
#undef COMMPASS_PREPARED
#undef COMMPASS_BEGUN
#undef COMMPASS_SEND

COMMPASS_BINDING(recv, ,
                 (void* buf, MPI_Fint* count, MPI_Fint* type, MPI_Fint* source, MPI_Fint* tag, MPI_Fint* comm,
                  MPI_Fint* status),
                 (buf, count, type, source, tag, comm, status),
                 log.receive(of, rank_at(comm, source), MakesRequest::no))
COMMPASS_BINDING(irecv, ,
                 (void* buf, MPI_Fint* count, MPI_Fint* type, MPI_Fint* source, MPI_Fint* tag, MPI_Fint* comm,
                  MPI_Fint* request),
                 (buf, count, type, source, tag, comm, request),
                 log.receive(of, rank_at(comm, source), made_request(PMPI_Request_f2c(*request))))
COMMPASS_BINDING(recv_init, ,
                 (void* buf, MPI_Fint* count, MPI_Fint* type, MPI_Fint* source, MPI_Fint* tag, MPI_Fint* comm,
                  MPI_Fint* request),
                 (buf, count, type, source, tag, comm, request),
                 log.prepare_receive(of, PMPI_Request_f2c(*request), rank_at(comm, source)))
COMMPASS_BINDING(sendrecv, ,
                 (void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, MPI_Fint* dest, MPI_Fint* sendtag,
                  void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* source, MPI_Fint* recvtag,
                  MPI_Fint* comm, MPI_Fint* status),
                 (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
                  status),
                 log.exchange(of, rank_at(comm, dest), bytes_at(sendcount, sendtype), rank_at(comm, source)))
COMMPASS_BINDING(sendrecv_replace, ,
                 (void* buf, MPI_Fint* count, MPI_Fint* type, MPI_Fint* dest, MPI_Fint* sendtag, MPI_Fint* source,
                  MPI_Fint* recvtag, MPI_Fint* comm, MPI_Fint* status),
                 (buf, count, type, dest, sendtag, source, recvtag, comm, status),
                 log.exchange(of, rank_at(comm, dest), bytes_at(count, type), rank_at(comm, source)))
#define COMMPASS_ACCESS(name, more_parameters, ...)                                                          \
  COMMPASS_BINDING(name, ,                                                                                   \
                   (void* origin, MPI_Fint* count, MPI_Fint* type, MPI_Fint* target, MPI_Aint* displacement, \
                    MPI_Fint* target_count, MPI_Fint* target_type, COMMPASS_ALL more_parameters),            \
                   (origin, count, type, target, displacement, target_count, target_type, __VA_ARGS__),      \
                   log.access(of, *target, bytes_at(count, type)))
COMMPASS_ACCESS(put, (MPI_Fint * win), win)
COMMPASS_ACCESS(get, (MPI_Fint * win), win)
COMMPASS_ACCESS(accumulate, (MPI_Fint * op, MPI_Fint* win), op, win)
COMMPASS_ACCESS(rput, (MPI_Fint * win, MPI_Fint* request), win, request)
COMMPASS_ACCESS(rget, (MPI_Fint * win, MPI_Fint* request), win, request)
COMMPASS_ACCESS(raccumulate, (MPI_Fint * op, MPI_Fint* win, MPI_Fint* request), op, win, request)
#undef COMMPASS_ACCESS

COMMPASS_BINDING(start, if (may_be_planned()) return start_in_c(request, ierr), (MPI_Fint * request), (request),
                 const auto started = PMPI_Request_f2c(*request);
                 log.start(of, {&started, 1}))
COMMPASS_BINDING(startall, if (may_be_planned()) return start_all_in_c(count, requests, ierr),
                 (MPI_Fint * count, MPI_Fint* requests), (count, requests), std::vector<MPI_Request> started;
                 for (MPI_Fint i = 0; i < *count; ++i) started.push_back(PMPI_Request_f2c(requests[i]));
                 log.start(of, started))
COMMPASS_BINDING(wait, if (may_be_planned()) return wait_in_c(caller, request, status, ierr);
                 const int active = active_requests(1, request), (MPI_Fint * request, MPI_Fint* status),
                 (request, status), log.complete(of, active))
COMMPASS_BINDING(waitall, if (may_be_planned()) return wait_all_in_c(caller, count, requests, statuses, ierr);
                 const int active = active_requests(*count, requests),
                 (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* statuses), (count, requests, statuses),
                 log.complete(of, active))
COMMPASS_BINDING(waitany, if (may_be_planned()) return wait_any_in_c(caller, count, requests, index, status, ierr),
                 (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* status),
                 (count, requests, index, status), log.complete(of, *index != MPI_UNDEFINED ? 1 : 0))
COMMPASS_BINDING(waitsome,
                 if (may_be_planned()) return some_in_c(caller, planned::wait_some, count, requests, completed, indices,
                                                        statuses, ierr),
                 (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* completed, MPI_Fint* indices, MPI_Fint* statuses),
                 (count, requests, completed, indices, statuses),
                 log.complete(of, *completed != MPI_UNDEFINED ? *completed : 0))
COMMPASS_TWO_BINDINGS(test, if (may_be_planned()) return test_in_c(caller, request, flag, status, ierr);
                      const int active = active_requests(1, request),
                      (MPI_Fint * request, MPI_Fint* flag, MPI_Fint* status), (request, flag, status),
                      log.complete(of, *flag ? active : 0))
COMMPASS_TWO_BINDINGS(testall,
                      if (may_be_planned()) return test_all_in_c(caller, count, requests, flag, statuses, ierr);
                      const int active = active_requests(*count, requests),
                      (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* flag, MPI_Fint* statuses),
                      (count, requests, flag, statuses), log.complete(of, *flag ? active : 0))
COMMPASS_TWO_BINDINGS(testany,
                      if (may_be_planned()) return test_any_in_c(caller, count, requests, index, flag, status, ierr),
                      (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* flag, MPI_Fint* status),
                      (count, requests, index, flag, status), log.complete(of, *flag&&* index != MPI_UNDEFINED ? 1 : 0))
COMMPASS_TWO_BINDINGS(testsome,
                      if (may_be_planned()) return some_in_c(caller, planned::test_some, count, requests, completed,
                                                             indices, statuses, ierr),
                      (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* completed, MPI_Fint* indices,
                       MPI_Fint* statuses),
                      (count, requests, completed, indices, statuses),
                      log.complete(of, *completed != MPI_UNDEFINED ? *completed : 0))
COMMPASS_BINDING(request_free, if (may_be_planned()) return free_in_c(request, ierr);
                 const auto freed = PMPI_Request_f2c(*request), (MPI_Fint * request), (request), log.release(of, freed))

void mpi_request_get_status_(MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status, MPI_Fint* ierr) {
  get_status("pmpi_request_get_status_", __builtin_return_address(0), request, flag, status, ierr);
}
void mpi_request_get_status_f08_(MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status, MPI_Fint* ierr) {
  get_status("pmpi_request_get_status_f08_", __builtin_return_address(0), request, flag, status, ierr);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier, bugprone-macro-parentheses)
#undef COMMPASS_TWO_BINDINGS
#undef COMMPASS_BINDING
#undef COMMPASS_FUNCTION
#undef COMMPASS_ALL
