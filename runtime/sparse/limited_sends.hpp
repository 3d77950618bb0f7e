// Sends of which no more are in flight than the limits allow.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "runtime/execute/send_limits.hpp"
#include "runtime/mpi/own_requests.hpp"

namespace commpass {

/// Where there are more than may be in flight, all are synchronous: one that is complete has arrived, and makes room
/// for the next. They need no other rank but their receivers, which must probe or have posted their receives.
class LimitedSends {
 public:
  enum class Mode { standard, synchronous };

  LimitedSends(MPI_Comm comm, int tag, SendLimits limits) : comm_(comm), tag_(tag), limits_(std::move(limits)) {}

  /// Allocates what this number of further messages needs. @throws std::bad_alloc
  void reserve(std::size_t messages);
  /// One more, in order; its bytes must stay until it is complete.
  void add(const void* at, int count, Rank peer) { queue_.push_back({at, count, peer}); }
  /// Begins as many as the limits allow. @throws MpiError
  void begin(Mode mode);
  /// Does none wait for room?
  bool all_have_begun() const { return requests_.size() == queue_.size(); }
  /// Moves on without waiting. @return are all complete? @throws MpiError
  bool progress();

 private:
  struct Send {
    const void* at;
    int count;
    Rank peer;
  };
  void post();

  MPI_Comm comm_;
  int tag_;
  SendLimits limits_;
  Mode mode_ = Mode::standard;
  std::vector<Send> queue_;
  OwnRequests requests_;        ///< of those that have begun, the first of the queue
  std::vector<int> completed_;  ///< room for their numbers
  int in_flight_ = 0, off_node_ = 0;
};

}  // namespace commpass
