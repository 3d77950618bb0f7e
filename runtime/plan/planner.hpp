// Builds the plan of one rank: the places of blocks, and the copies, sends and receives.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/plan/arena.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/plan/stage_walk.hpp"

namespace commpass {

/// The sink of a walk that makes a plan. `where` is an offset in the send buffer, or transit_base and more.
class Planner {
 public:
  /// @throws InputError for an edge that is out of range, or to oneself and not matched
  Planner(const RouteOfRank& own, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives);
  /// @param payloads  of the send edges, if they do not follow from their places (payloads_of)
  Planner(const RouteOfRank& own, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives,
          std::span<const Payload> payloads);

  /// The blocks that have to leave, before the first stage; once.
  std::vector<Held> take_held() { return std::move(held_); }

  void begin_batch(int stage);
  void send(const Message& message, const Departures& departures, const HeldBlocks& here);
  void receive(const Incoming& message, std::vector<Held>& arrived);
  void end_batch();
  void end_stage() {}

  /// @param left  the blocks that are held after the last stage
  /// @throws InputError if an expected block has not arrived
  Plan finish(std::span<const Held> left);

 private:
  /// A receive edge of which `missing` bytes have not been planned yet.
  struct Expected {
    ReceiveEdge edge;
    Bytes missing = 0;
  };
  // Above every offset of a send buffer, so that one number is a place, and contiguous places are contiguous numbers.
  static constexpr std::int64_t transit_base = std::int64_t{1} << 62;

  static Place place_of(std::int64_t where);
  void release(std::int64_t where, Bytes bytes);
  void check(std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives) const;
  void copy_self();
  void cut_held(const Route& route);
  Bytes take_expected(const Block& block);
  InputError mismatch(const std::string& what) const;

  Rank rank_;
  int ranks_;
  std::vector<Held> held_;
  std::map<std::pair<Rank, std::int32_t>, Expected> expected_;  // by source and index
  Bytes packed_ = 0;                                            // of the batch being planned
  std::vector<std::pair<std::int64_t, Bytes>> free_after_;      // places that are free after it
  std::map<Bytes, int> sharers_;                                // by place in transit, its blocks besides one
  Arena arena_;
  Plan plan_;
};

/// The plan of one rank whose source needs no other ranks. @throws Error, as Planner
Plan plan_alone(const RouteOfRank& own, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives,
                const HeaderSource& source);
Plan plan_alone(const RouteOfRank& own, Planner planner, const HeaderSource& source);

}  // namespace commpass
