#include "runtime/mpi/in_flight.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

InFlight* first = nullptr;
bool yields_in_waits = false;

// A ticket lock.
std::atomic<unsigned> next_ticket = 0, served = 0;
std::atomic<std::thread::id> holder;
int lock_depth = 0;  // how often its holder has taken it

bool threads_call_at_once() {
  static const bool multiple = [] {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
  }();
  return multiple;
}

}  // namespace

InFlightLock::InFlightLock() noexcept : is_held_(threads_call_at_once()) {
  if (!is_held_) return;
  if (holder != std::this_thread::get_id()) {
    for (const auto mine = next_ticket++; served != mine;) std::this_thread::yield();
    holder = std::this_thread::get_id();
  }
  ++lock_depth;
}

InFlightLock::~InFlightLock() {
  if (!is_held_ || --lock_depth > 0) return;
  holder = std::thread::id();
  ++served;
}

void InFlight::enter() noexcept {
  if (std::exchange(entered_, true)) return;
  previous_ = nullptr;
  next_ = first;
  if (first) first->previous_ = this;
  first = this;
}

void InFlight::leave() noexcept {
  if (!std::exchange(entered_, false)) return;
  if (next_) next_->previous_ = previous_;
  (previous_ ? previous_->next_ : first) = next_;
}

void InFlight::try_move_on() noexcept {
  try {
    move_on();
  } catch (...) {
    failure_ = std::current_exception();
    leave();
  }
}

void InFlight::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void move_on_all() noexcept {
  for (auto* item = first; item != nullptr;) {
    auto* const next = item->next_;  // it may leave
    item->try_move_on();
    item = next;
  }
}

void yield_in_waits() noexcept { yields_in_waits = true; }

bool must_poll(const InFlight* but) noexcept {
  if (yields_in_waits || threads_call_at_once()) return true;
  return first != nullptr && (first != but || first->next_ != nullptr);
}

bool anything_is_in_flight() noexcept { return first != nullptr; }

int test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const ReturnedErrors errors;
  const bool is_ignored = statuses == MPI_STATUSES_IGNORE;
  // MPICH 4.0 tests 64 requests at a time, and without statuses completes all of them as it may the last ones: if none
  // of these is persistent, and one before them is, it aborts.
  constexpr int requests_max = 64;
  if (is_ignored && count > requests_max) {
    for (int begin = 0; begin < count; begin += requests_max)
      if (const int code = test_all(std::min(requests_max, count - begin), requests + begin, done, statuses);
          code != MPI_SUCCESS || !*done)
        return code;
    return MPI_SUCCESS;
  }
  if (count != 1) return MPI_Testall(count, requests, done, statuses);
  const int code = MPI_Test(requests, done, is_ignored ? MPI_STATUS_IGNORE : statuses);
  if (code == MPI_SUCCESS || is_ignored) return code;
  statuses->MPI_ERROR = code;  // which MPI_Test does not set
  return MPI_ERR_IN_STATUS;
}

int block_for_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  const ReturnedErrors errors;
  return MPI_Waitall(count, requests, statuses);
}

int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (!must_poll()) return block_for_all(count, requests, statuses);
  int code = MPI_SUCCESS;
  wait_until([&] {
    int done = 0;
    code = test_all(count, requests, &done, statuses);
    return code != MPI_SUCCESS || done != 0;
  });
  return code;
}

}  // namespace commpass
