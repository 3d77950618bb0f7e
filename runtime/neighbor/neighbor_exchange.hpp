// A persistent neighbour exchange: edges are known, and the data moves many times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "model/cost/cost_model.hpp"
#include "runtime/edges.hpp"
#include "runtime/state_pointer.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

/// How an exchange is chosen and planned.
struct ExchangeOptions {
  std::string strategy;                ///< run this one; empty: COMMPASS_STRATEGY as it fits the layout
                                       ///< (selector/choose/nearest.hpp), else the cheapest
  CostModel model = CostModel::burst;  ///< by which strategies are priced
  /// The number of exchanges, to weigh the time of planning against theirs; nothing: the time of planning does not
  /// count.
  std::optional<double> calls{};
  /// Patterns of more edges are not gathered: the choice is by statistics. 2^22 edges take 1.3 GB on each rank that
  /// prices.
  std::int64_t most_edges_gathered = std::int64_t{1} << 22;
  /// Of this rank, in exchanges of datatypes (TypedExchange): blocks are packed into our buffers, also without gaps, so
  /// that each exchange may take other buffers.
  bool any_buffers = false;
  /// Plan it as the first of its pattern, even if it is not (runtime/neighbor/plan_cache.hpp): to time planning.
  bool anew = false;
  /// Choose by prices alone (estimate), by timing those that prices cannot tell apart in the first exchanges of the
  /// program (adaptive), or by timing the few best (measure) or all strategies that are considered (patient) before;
  /// the MPI library's own collective is among them. Nothing: COMMPASS_PLANNER, else adaptive for the first
  /// 64 exchanges of a communicator that have something to try, then estimate. A named strategy is not timed. Timing
  /// pays only if exchanges run many times; before the first one it reads the send buffer.
  std::optional<PlannerMode> planner{};
  /// The time for exchanges that are timed before, besides planning them; nothing: 0.1 s, or 1 s if patient.
  std::optional<Seconds> planner_seconds{};
  /// Edges hold small values, as those of indexed exchanges: pieces of messages are copied by loops over values, and
  /// priced so. The same on every rank.
  bool are_values = false;
  bool operator==(const ExchangeOptions&) const = default;
};

/// A persistent neighbour exchange: planned once, run many times. Move-only.
///
/// Destroying it completes an exchange that is in flight, so buffers must outlive it. It may outlive its Communicator.
class Exchange {
 public:
  /// Begins an exchange: the send buffer must not change and the receive buffer not be used until it is complete.
  /// Every rank must start and complete it, several in any order. Routes of several stages move on in calls of Commpass
  /// only, in any of them.
  /// @throws Error if it is in flight already, MpiError
  void start();
  /// @return true when the exchange is complete. @throws MpiError
  bool test();
  /// Completes the exchange. @throws MpiError
  void wait();

  /// The strategy that runs, in text form; while trials go on (PlannerMode::adaptive), between them. They change this
  /// and the following properties in start().
  const std::string& strategy() const;
  /// Its predicted seconds for one exchange; nothing if it was named, or the profile has no price for the layout.
  std::optional<Seconds> predicted_seconds() const;
  /// The seconds of one exchange in timed trials; nothing unless ExchangeOptions::planner asks for them.
  std::optional<Seconds> measured_seconds() const;
  /// The reasons of the choice, as text, the same on every rank.
  const std::string& explanation() const;
  /// Bytes of the buffers that this rank holds besides the user's.
  Bytes buffer_bytes() const;
  /// Bytes that this rank sends to ranks of other nodes, those that it forwards among them.
  Bytes bytes_to_other_nodes() const;

  struct State;
  /// Communicator::neighbor_exchange makes one.
  explicit Exchange(std::unique_ptr<State> state);
  State& state() { return *state_; }

 private:
  StatePointer<State> state_;
};

}  // namespace commpass
