// Calls of requests of both kinds (planned_requests.hpp).
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "preload/planned_requests.hpp"

namespace commpass::planned {

namespace {

/// MPI 4.0 §3.7.3; of a status that is ignored nothing.
void set_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  status->MPI_ERROR = MPI_SUCCESS;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

/// Null: the library knows what the request is.
PlannedRequest* find_ours(MPI_Request request) {
  auto* const planned = find_planned(request);
  return planned && !planned->is_left() ? planned : nullptr;
}

/// The requests of a call: those that run by plans, and all others, for the library.
class Requests {
 public:
  Requests(int count, MPI_Request* given) : given_(given), count_(count) {
    for (int i = 0; i < count; ++i)
      if (auto* const planned = find_ours(given[i])) {
        if (hidden_.empty()) others_.assign(given, given + count);
        hidden_.push_back(i);
        if (planned->is_active()) active_.push_back({i, planned});
        others_[static_cast<std::size_t>(i)] = MPI_REQUEST_NULL;
      }
  }
  /// What the library has made of the others is the program's.
  ~Requests() {
    if (hidden_.empty()) return;
    for (const int index : hidden_) others_[static_cast<std::size_t>(index)] = given_[index];
    std::ranges::copy(others_, given_);
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  struct Ours {
    int index;
    PlannedRequest* planned;
  };
  /// Those that are active.
  const std::vector<Ours>& ours() const { return active_; }
  /// With null in the places of all of ours.
  MPI_Request* others() { return hidden_.empty() ? given_ : others_.data(); }
  int count() const { return count_; }

 private:
  MPI_Request* given_;
  int count_;
  std::vector<Ours> active_;
  std::vector<int> hidden_;
  std::vector<MPI_Request> others_;
};

/// The program is told that all of ours are complete. @return the first code of an error
int report_all(const Requests& of, int code) {
  for (const auto& each : of.ours())
    if (const int own = each.planned->report(); code == MPI_SUCCESS) code = own;
  return code;
}

/// One look at all requests, at ours and at the library's by turns.
int look_for_any(Requests& of, int* index, int* flag, MPI_Status* status, bool are_ours_first) {
  const auto look_at_ours = [&] {
    for (const auto& each : of.ours()) {
      if (!each.planned->poll()) continue;
      *flag = 1;
      *index = each.index;
      set_empty(status);
      return each.planned->report();
    }
    return MPI_SUCCESS;
  };
  *flag = 0;
  int code = MPI_SUCCESS;
  if (are_ours_first && (code = look_at_ours(), *flag)) return code;
  code = PMPI_Testany(of.count(), of.others(), index, flag, status);
  if (code != MPI_SUCCESS || (*flag && *index != MPI_UNDEFINED)) return code;
  *flag = 0;  // none of the others is active, but ours are
  *index = MPI_UNDEFINED;
  return are_ours_first ? MPI_SUCCESS : look_at_ours();
}

bool is_ours_turn() {
  thread_local bool is_turn = false;
  return is_turn = !is_turn;
}

/// Those that are complete, of both kinds.
int look_for_some(Requests& of, int* completed, int* indices, MPI_Status* statuses) {
  *completed = 0;
  int code = PMPI_Testsome(of.count(), of.others(), completed, indices, statuses);
  if (*completed == MPI_UNDEFINED) *completed = 0;
  for (const auto& each : of.ours()) {
    if (!each.planned->poll()) continue;
    if (statuses != MPI_STATUSES_IGNORE) set_empty(&statuses[*completed]);
    indices[(*completed)++] = each.index;
    if (const int own = each.planned->report(); code == MPI_SUCCESS) code = own;
  }
  return code;
}

}  // namespace

int start(MPI_Request* request) {
  auto* const planned = find_planned(*request);
  return planned ? planned->start(request) : PMPI_Start(request);
}

int start_all(int count, MPI_Request* requests) {
  if (std::none_of(requests, requests + count, find_planned)) return PMPI_Startall(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int wait(MPI_Request* request, MPI_Status* status) {
  auto* const planned = find_ours(*request);
  if (!planned) return PMPI_Wait(request, status);
  set_empty(status);
  if (!planned->is_active()) return MPI_SUCCESS;
  planned->finish();
  return planned->report();
}

int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  Requests of(count, requests);
  // The library moves on the others meanwhile, and needs no call of this rank for what other ranks wait for of ours.
  for (const auto& each : of.ours()) each.planned->finish();
  return report_all(of, PMPI_Waitall(count, of.others(), statuses));
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Requests of(count, requests);
  if (of.ours().empty()) return PMPI_Waitany(count, of.others(), index, status);
  for (bool are_ours_first = is_ours_turn();; are_ours_first = !are_ours_first) {
    int flag = 0;
    const int code = look_for_any(of, index, &flag, status, are_ours_first);
    if (flag || code != MPI_SUCCESS) return code;
    std::this_thread::yield();
  }
}

int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  Requests of(count, requests);
  if (of.ours().empty()) return PMPI_Waitsome(count, of.others(), completed, indices, statuses);
  for (;;) {
    const int code = look_for_some(of, completed, indices, statuses);
    if (*completed > 0 || code != MPI_SUCCESS) return code;
    std::this_thread::yield();
  }
}

int test(MPI_Request* request, int* flag, MPI_Status* status) {
  auto* const planned = find_ours(*request);
  if (!planned) return PMPI_Test(request, flag, status);
  *flag = !planned->is_active() || planned->poll() ? 1 : 0;
  if (*flag) set_empty(status);
  return *flag && planned->is_active() ? planned->report() : MPI_SUCCESS;
}

int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Requests of(count, requests);
  bool are_ours_complete = true;
  for (const auto& each : of.ours()) are_ours_complete = each.planned->poll() && are_ours_complete;
  *flag = 0;
  if (!are_ours_complete) return MPI_SUCCESS;
  const int code = PMPI_Testall(count, of.others(), flag, statuses);
  return *flag ? report_all(of, code) : code;
}

int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Requests of(count, requests);
  if (of.ours().empty()) return PMPI_Testany(count, of.others(), index, flag, status);
  return look_for_any(of, index, flag, status, is_ours_turn());
}

int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  Requests of(count, requests);
  if (of.ours().empty()) return PMPI_Testsome(count, of.others(), completed, indices, statuses);
  return look_for_some(of, completed, indices, statuses);
}

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
  auto* const planned = find_ours(request);
  if (!planned) return PMPI_Request_get_status(request, flag, status);
  *flag = !planned->is_active() || planned->poll() ? 1 : 0;
  if (*flag) set_empty(status);
  return MPI_SUCCESS;
}

#ifdef COMMPASS_MPI_ABI
int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  std::vector<MPI_Request> given(requests, requests + count);
  Requests of(count, given.data());
  *flag = 0;
  for (const auto& each : of.ours())
    if (!each.planned->poll()) return MPI_SUCCESS;
  return PMPI_Request_get_status_all(count, of.others(), flag, statuses);
}

int get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  std::vector<MPI_Request> given(requests, requests + count);
  Requests of(count, given.data());
  for (const auto& each : of.ours()) {
    if (!each.planned->poll()) continue;
    *flag = 1;
    *index = each.index;
    set_empty(status);
    return MPI_SUCCESS;
  }
  const int code = PMPI_Request_get_status_any(count, of.others(), index, flag, status);
  if (*flag && *index == MPI_UNDEFINED && !of.ours().empty()) *flag = 0;  // ours are active
  return code;
}

int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  std::vector<MPI_Request> given(requests, requests + count);
  Requests of(count, given.data());
  const int code = PMPI_Request_get_status_some(count, of.others(), completed, indices, statuses);
  if (*completed == MPI_UNDEFINED && !of.ours().empty()) *completed = 0;
  for (const auto& each : of.ours()) {
    if (!each.planned->poll()) continue;
    if (statuses != MPI_STATUSES_IGNORE) set_empty(&statuses[*completed]);
    indices[(*completed)++] = each.index;
  }
  return code;
}
#endif

int free(MPI_Request* request) {
  if (find_planned(*request)) drop_planned(*request);
  return PMPI_Request_free(request);
}

}  // namespace commpass::planned
