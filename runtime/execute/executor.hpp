// The one executor: runs any plan on MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "runtime/execute/memory.hpp"
#include "runtime/execute/plan_buffers.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/message_type.hpp"

namespace commpass {

/// An exchange has this many tags, its own and those after it, for messages between the same two ranks in a batch.
/// Requests that no tag tells apart are started one after another, so more tags mean fewer calls.
inline constexpr int tags_per_exchange = 16;

/// A plan with its buffers and persistent requests. Nothing is allocated and nothing created after construction.
class Executor final : InFlight {
 public:
  /// @param comm           ours, and alive as long as this
  /// @param tag            the first of `tags_per_exchange`; the same on all ranks, used by no other exchange in flight
  /// @param largest_count  for tests: messages of more bytes use a derived datatype
  /// @param memory         where the user's buffers lie, and its own
  /// @throws MpiError, std::bad_alloc
  Executor(const Plan& plan, MPI_Comm comm, int tag, const void* send_buffer, void* receive_buffer,
           Bytes largest_count = largest_mpi_count, Memory& memory = host_memory());
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Begins an exchange. @throws Error if one is in flight or one before it has failed, MpiError
  void start();
  /// Moves on as far as possible without waiting. @return true when the exchange is complete (or none is in flight)
  bool test();
  /// Completes the exchange; returns at once if none is in flight. @throws MpiError, as test(), also for
  /// what failed while something else was waited for
  void wait();
  bool in_flight() const { return in_flight_; }

 private:
  /// Ranges in copies_, requests_ and start_ends_.
  struct Batch {
    std::size_t pack_end = 0, unpack_end = 0, receive_end = 0, request_end = 0, start_end = 0;
  };

  template <class Init>
  void add_requests(const std::vector<PlannedMessage>& messages, int first_tag, Bytes largest_count, Init init);
  void copy(std::size_t first, std::size_t last);
  void begin_batch();
  void end_batch();
  template <class Action>
  void guarded(Action action);
  void move_on() override;
  bool is_complete();
  int request_count() const;
  MPI_Request* first_request();
  void free_requests() noexcept;

  Memory& memory_;
  PlanBuffers buffers_;
  std::vector<LocalCopy> copies_;  ///< those to self, then of each batch those before and after
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> start_ends_;  ///< where in requests_ end those that are started by one call
  std::vector<Batch> batches_;
  Batch done_{};  ///< where the ranges of the current batch begin
  std::size_t self_end_ = 0;
  std::size_t current_ = 0;
  bool in_flight_ = false, is_broken_ = false;
};

}  // namespace commpass
