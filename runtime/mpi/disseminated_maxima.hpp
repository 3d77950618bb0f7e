// Maxima over all ranks by messages of our own, in steps whose times the caller chooses.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/mpi/own_requests.hpp"

namespace commpass {

/// Dissemination (Hensgen, Finkel, Manber 1988): in round k each rank sends its maxima to the rank 2^k behind it, and
/// receives those of the rank 2^k before it. After ceil(log2 P) rounds all ranks know the same. Allocates nothing after
/// construction.
class DisseminatedMaxima {
 public:
  /// @param comm         ours, and alive as long as this
  /// @param tag          the same on every rank; no other message on `comm` has it
  /// @param numbers_max  of all calls of begin()
  DisseminatedMaxima(MPI_Comm comm, int tag, std::size_t numbers_max);

  /// Begins with these numbers of this rank, as many on every rank; the rounds replace them by the maxima.
  void begin(std::span<double> numbers);
  /// Have all rounds been completed?
  bool is_over() const { return distance_ >= ranks_; }
  /// Starts the messages of the next round, without waiting. @throws MpiError
  void begin_round();
  /// Those of the round, to be completed before its end.
  std::span<MPI_Request> requests() { return requests_; }
  void end_round();
  /// After an error of MPI.
  void abandon() noexcept { cancel_receives(std::span(requests_).first(1)); }

 private:
  MPI_Comm comm_;
  int tag_;
  Rank rank_, ranks_;
  std::int64_t distance_ = 0;
  std::span<double> numbers_;
  std::vector<double> sent_, received_;
  OwnRequests requests_;  ///< that of the receive, then that of the send
};

}  // namespace commpass
