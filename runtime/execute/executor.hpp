// The executor: runs batches of requests one after another, and moves on all exchanges in flight meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/execute/batch_requests.hpp"
#include "runtime/mpi/in_flight.hpp"

namespace commpass {

/// An exchange that can be run any number of times. Allocates and creates nothing after construction.
class Executor final : InFlight {
 public:
  explicit Executor(std::unique_ptr<BatchRequests> requests) : requests_(std::move(requests)) {}
  /// Completes an exchange that is in flight.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Does work around the requests of all exchanges from now on; none may be in flight.
  void surround(std::unique_ptr<RequestsAround> outer) {
    outer->surround(std::move(requests_));
    requests_ = std::move(outer);
  }

  /// Begins an exchange. @throws Error if one is in flight or one before it has failed, MpiError
  void start();
  /// Moves on as far as possible without waiting. @return true when the exchange is complete (or none is in flight)
  bool test();
  /// Completes the exchange; returns at once if none is in flight. @throws MpiError, as test(), also for a failure
  /// during the wait for another exchange
  void wait();

 private:
  void begin_batch();
  void end_batch();
  template <class Action>
  void guarded(Action action);
  void move_on() override;
  bool is_complete();

  std::unique_ptr<BatchRequests> requests_;
  std::size_t current_ = 0;
  bool in_flight_ = false, is_broken_ = false;
};

}  // namespace commpass
