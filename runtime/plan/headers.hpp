// Headers of a stage: the blocks of the messages that a rank receives, and sources of them that need no MPI.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/route/route.hpp"
#include "model/route/strategy.hpp"
#include "model/schedule/schedule.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// A route as one rank takes it.
struct RouteOfRank {
  const Route& route;
  Window window;
  Coalescing coalescing = Coalescing::coalesced;
  Rank rank = 0;
  int ranks = 1;
};

/// The blocks of a received message, in its order.
struct Incoming {
  Rank from = 0;
  int round = 0;
  int batch = 0;
  std::vector<Block> blocks;
};

struct Headers {
  std::vector<Incoming> incoming;  ///< one from each sender, in any order, still without rounds and batches
  std::uint32_t most_blocks = 0;   ///< in a message of the stage, over all ranks; 0 unless the strategy is staggered
};

/// Gives the headers of a stage to a rank that sends `departures` of the blocks `held`. Called for every stage, in
/// order. Where ranks send each other headers, one that fails still takes part, without any, and throws after.
using HeaderSource = std::function<Headers(int stage, const Departures& departures, std::span<const Block> held)>;

/// A HeaderSource for coalesced messages of a route with one stage: every block comes from its source, so the receive
/// edges are the headers. mismatch() tells all ranks together whether the edges match.
class ExpectedHeaders {
 public:
  /// @param receives  in range; must outlive this
  ExpectedHeaders(Rank rank, std::span<const ReceiveEdge> receives) : rank_(rank), receives_(receives) {}

  Headers operator()(int stage, const Departures& departures, std::span<const Block> held);

  /// A hash of the headers that this rank sends less those that it expects. The sum over all ranks, modulo 2^64, is 0
  /// if every header is expected; else it differs from 0 but for one case in 2^64. (Blocks with the same bytes in one
  /// message count as not expected, because their receiver cannot know of them.)
  std::uint64_t mismatch() const { return mismatch_; }

 private:
  Rank rank_;
  std::span<const ReceiveEdge> receives_;
  std::uint64_t mismatch_ = 0;
};

/// A HeaderSource for exchanges between all pairs of ranks: every rank has one block for every other one, and each rank
/// follows all of them along the route. No rank waits for another, but it takes some 10 ns for each pair of ranks and
/// stage.
class ComputedHeaders {
 public:
  /// @param own  with a route that depends on no pattern and cuts nothing
  /// @throws std::bad_alloc
  explicit ComputedHeaders(const RouteOfRank& own);

  Headers operator()(int stage, const Departures&, std::span<const Block>) const {
    return of_stage_[static_cast<std::size_t>(stage)];
  }

 private:
  std::vector<Headers> of_stage_;
};

}  // namespace commpass
