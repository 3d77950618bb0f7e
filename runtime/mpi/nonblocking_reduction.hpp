// Non-blocking reductions over all ranks. Simulations replace the source.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace commpass {

class TallyOperation;

/// A non-blocking reduction of 64-bit integers. Those of one communicator must be started in the same order on all
/// ranks.
class NonblockingReduction {
 public:
  NonblockingReduction();
  ~NonblockingReduction();
  NonblockingReduction(const NonblockingReduction&) = delete;
  NonblockingReduction& operator=(const NonblockingReduction&) = delete;

  // After std::bad_alloc, nothing has started.
  /// Every rank gets the combined tally.
  void start_tally(MPI_Comm comm, std::vector<std::int64_t> tally, const TallyOperation& operation);
  /// Every rank gets the sums. A start after the first with as many numbers takes no memory; the one before must be
  /// complete.
  void start_sum(MPI_Comm comm, std::span<const std::int64_t> numbers);
  /// Rank i gets the sums of the numbers i·n … (i+1)·n−1 of all ranks, where there are n for each rank.
  void start_scattered_sum(MPI_Comm comm, std::vector<std::int64_t> numbers);
  void start_barrier(MPI_Comm comm);

  bool started() const { return running_ != nullptr; }
  /// Is it complete? Only after it was started.
  bool test();
  /// Waits until it is complete, and moves on the exchanges in flight meanwhile. Only after it was started.
  void wait();
  /// The sums or the tally, when it is complete.
  std::span<const std::int64_t> result() const { return result_; }

 private:
  struct Running;  ///< MPI's operation, or its stand-in in a simulation
  std::unique_ptr<Running> running_;
  std::vector<std::int64_t> result_;
};

}  // namespace commpass
