// Reductions over all ranks that do not wait, in one place, so that a simulation can replace them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/sparse/tally_operation.hpp"

namespace commpass {

/// A non-blocking reduction of 64-bit integers. Those of one communicator must be started in the same order on all
/// ranks.
class NonblockingReduction {
 public:
  NonblockingReduction();
  ~NonblockingReduction();
  NonblockingReduction(const NonblockingReduction&) = delete;
  NonblockingReduction& operator=(const NonblockingReduction&) = delete;

  // If there is no memory, nothing has started.
  /// Everybody gets the combined tally.
  void start_tally(MPI_Comm comm, std::vector<std::int64_t> tally, const TallyOperation& operation);
  /// Everybody gets the sums. May be started again when it is complete; then no memory is taken for as many numbers.
  void start_sum(MPI_Comm comm, std::span<const std::int64_t> numbers);
  /// Rank i gets the sums of everybody's numbers i·n … (i+1)·n−1, where there are n for each rank.
  void start_scattered_sum(MPI_Comm comm, std::vector<std::int64_t> numbers);
  /// Nobody gets anything: a barrier.
  void start_barrier(MPI_Comm comm);

  bool started() const { return running_ != nullptr; }
  /// Is it complete? Only after it was started.
  bool test();
  /// Waits until it is complete, and moves on meanwhile what is in flight. Only after it was started.
  void wait();
  /// What came out, when it is complete.
  std::span<const std::int64_t> result() const { return result_; }

 private:
  struct Running;  ///< MPI's operation, or what a simulation has in its place
  std::unique_ptr<Running> running_;
  std::vector<std::int64_t> result_;
};

}  // namespace commpass
