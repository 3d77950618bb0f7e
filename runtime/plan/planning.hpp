// Planning in two steps: what a rank can do alone, and what it cannot.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "runtime/mpi/agreement.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/plan/stage_walk.hpp"

namespace commpass {

/// An exchange that is being planned. All it refers to must outlive it.
class Planning {
 public:
  /// Does what this rank can do alone: all, if its receive edges tell what comes (edges_tell_all). Not collective.
  /// @throws InputError for edges that are out of range, std::bad_alloc, MpiError
  Planning(MPI_Comm comm, const Route& route, Window window, Coalescing coalescing, std::span<const SendEdge> sends,
           std::span<const ReceiveEdge> receives);
  ~Planning();
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;

  /// Is there a plan already? It is right if the edges of all ranks match.
  bool is_complete() const { return plan_.has_value(); }
  /// See ExpectedHeaders.
  std::uint64_t mismatch() const { return mismatch_; }

  /// Does what is left, unless there is a plan that is right. Collective: a rank that fails takes part to the end.
  /// @param then  a step to do with such a plan; not called if there was one
  /// @throws Error, the same on every rank
  void finish(
      bool are_edges_matched, const std::function<void()>& then = [] {});

  Plan take_plan() { return std::move(*plan_); }

 private:
  struct Told;  ///< what is needed where headers are sent
  void exchange_headers(Failure& failure);
  RouteOfRank own_;
  MPI_Comm comm_;
  std::span<const SendEdge> sends_;
  std::span<const ReceiveEdge> receives_;
  std::optional<Plan> plan_;
  std::uint64_t mismatch_ = 0;
  std::unique_ptr<Told> told_;
};

}  // namespace commpass
