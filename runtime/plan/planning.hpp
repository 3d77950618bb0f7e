// Planning: the agreement of all ranks before it, the part that a rank can do alone, and the part with other ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/mpi/agreement.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/plan/stage_walk.hpp"

namespace commpass {

struct DeviceUse {
  bool is_used = false;     ///< does its data lie on a device?
  bool is_refused = false;  ///< and does the MPI library not take it there?
  bool operator==(const DeviceUse&) const = default;
};

struct Opening {
  bool has_failed = false;        ///< any rank
  bool is_same_strategy = true;   ///< do all ranks name the same strategy, or the same plan?
  bool are_edges_matched = true;  ///< is the sum of all mismatches 0?
  DeviceUse devices{};            ///< any rank
};

/// Waits for all ranks, and moves on the exchanges in flight, as assemble() does. Collective.
/// @param named     number_of() the strategy or plan that this rank wants to run
/// @param mismatch  of ExpectedHeaders; 0 if there are none
Opening open_planning(MPI_Comm comm, const Failure& failure, std::uint64_t named, std::uint64_t mismatch,
                      const DeviceUse& devices = {});

/// A hash of the name of a strategy. Different names have different numbers, but for one case in 2^64.
std::uint64_t number_of(const std::string& strategy);

/// An exchange that is being planned. All it refers to must outlive it.
class Planning {
 public:
  /// Does the part of this rank alone: all, if its receive edges are the headers (edges_tell_all). Local.
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

  /// Does the part with other ranks, unless there is a plan that is right. Collective: a rank that fails takes part to
  /// the end.
  /// @param then  a step with the new plan; not called without one
  /// @throws Error, the same on every rank
  void finish(
      bool are_edges_matched, const std::function<void()>& then = [] {});

  Plan take_plan() { return std::move(*plan_); }

 private:
  struct WithOthers;  ///< the planner and source where headers are sent
  void exchange_headers(Failure& failure);
  RouteOfRank own_;
  MPI_Comm comm_;
  std::span<const SendEdge> sends_;
  std::span<const ReceiveEdge> receives_;
  std::optional<Plan> plan_;
  std::uint64_t mismatch_ = 0;
  std::unique_ptr<WithOthers> with_others_;
};

/// Plans an exchange. Headers of the blocks travel the route ahead of the data, so every rank learns the blocks that it
/// receives and forwards; where each message goes straight to its destination, the edges of both ends are enough, and
/// no headers travel. Collective over `comm`, which nothing else may use meanwhile; where headers travel it needs an
/// int for every rank.
/// @param route    the same on every rank
/// @param sends    the k-th edge to a rank is that rank's k-th edge from this one; edges of 0 bytes move nothing
/// @throws Error, the same on every rank, if the edges of any two ranks do not match
Plan make_plan(MPI_Comm comm, const Route& route, Window window, std::span<const SendEdge> sends,
               std::span<const ReceiveEdge> receives, Coalescing coalescing = Coalescing::coalesced);

}  // namespace commpass
