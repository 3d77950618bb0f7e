#include "runtime/execute/executor.hpp"

namespace commpass {

Executor::~Executor() {
  if (mpi_is_usable()) {
    try {
      wait();        // the other ranks have started this exchange too, and complete it
    } catch (...) {  // NOLINT: a destructor cannot report it
    }
  }
  const InFlightLock lock;
  leave();
  requests_.reset();
}

void Executor::begin_batch() {
  requests_->begin(current_);
  // The MPI library moves on the last batch without further calls of ours.
  if (current_ + 1 < requests_->batches()) enter();
  else leave();
}

void Executor::end_batch() {
  requests_->end(current_);
  ++current_;
  if (current_ < requests_->batches()) begin_batch();
  else in_flight_ = false;
}

void Executor::start() {
  const InFlightLock lock;
  if (is_broken_) throw Error("exchange: MPI has failed in it; plan a new one.");
  if (in_flight_) throw Error("exchange: it was started twice; call wait before the next start.");
  current_ = 0;
  in_flight_ = true;
  guarded([&] { begin_batch(); });
}

/// After an error of MPI no more messages arrive in the user's buffers.
template <class Action>
void Executor::guarded(Action action) {
  try {
    action();
  } catch (...) {
    is_broken_ = true;
    in_flight_ = false;
    leave();
    requests_->abandon();
    throw;
  }
}

void Executor::move_on() {
  guarded([&] {
    while (in_flight_) {
      requests_->move_on();
      const auto requests = requests_->requests();
      int complete = 1, code = MPI_SUCCESS;
      if (!requests.empty())
        code = test_all(static_cast<int>(requests.size()), requests.data(), &complete, requests_->statuses());
      if ((code == MPI_SUCCESS && !complete) || !requests_->are_complete("MPI_Testall", code)) return;
      end_batch();
    }
  });
}

bool Executor::is_complete() {
  rethrow_failure();
  move_on();
  return !in_flight_;
}

bool Executor::test() {
  const InFlightLock lock;
  move_on_all();
  return is_complete();
}

void Executor::wait() {
  if (must_poll(this)) return wait_until([&] { return is_complete(); });
  rethrow_failure();
  guarded([&] {
    while (in_flight_) {
      const bool may_block = !requests_->move_on();
      const auto requests = requests_->requests();
      int code = MPI_SUCCESS;
      if (!requests.empty()) {
        int complete = 1;
        const auto count = static_cast<int>(requests.size());
        code = may_block ? block_for_all(count, requests.data(), requests_->statuses())
                         : test_all(count, requests.data(), &complete, requests_->statuses());
        if (code == MPI_SUCCESS && !complete) continue;
      }
      if (requests_->are_complete("MPI_Waitall", code)) end_batch();
    }
  });
}

}  // namespace commpass
