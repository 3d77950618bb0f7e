// The ranks that have come to a call that is left to the MPI library.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/shared_mapping.hpp"

namespace commpass {

/// A number of each rank, in memory that all ranks of a node share.
class NodeCounters {
 public:
  /// Has them where all ranks can share memory. Collective, and freed by each rank alone.
  void open(MPI_Comm comm);

  static constexpr std::size_t cache_line = 64;
  struct alignas(cache_line) Counter {
    std::atomic<std::int64_t> number;
  };
  std::span<Counter> all() const { return all_; }  ///< by rank; empty: there is no such memory

 private:
  SharedMapping memory_;
  std::span<Counter> all_;
};

/// The library's call moves on nothing of ours, and other ranks may come to it only when messages in flight here have
/// arrived. So a rank with such messages waits, before it calls, until all others are in the call. They say so, and
/// need not wait: on one node by a number that others read, elsewhere by a reduction.
class Arrivals {
 public:
  explicit Arrivals(bool is_one_node) : is_one_node_(is_one_node) {}

  /// Comes before each call that is left to the library on several ranks. The first one is collective and blocks.
  /// @param comm  the same each time
  void announce(MPI_Comm comm) {
    if (!own_) return announce_by_reduction(comm);
    const auto call = own_->load(std::memory_order_relaxed) + 1;
    own_->store(call, std::memory_order_release);
    if (anything_is_in_flight()) wait_for_all_in(call, comm);
  }
  /// Completes the last reduction, if there is one.
  void complete();

 private:
  void announce_by_reduction(MPI_Comm comm);
  void wait_for_all_in(std::int64_t call, MPI_Comm comm) const;

  bool is_one_node_, is_open_ = false;
  NodeCounters counters_;
  std::atomic<std::int64_t>* own_ = nullptr;
  NonblockingReduction reduction_;
};

}  // namespace commpass
