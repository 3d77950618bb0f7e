// The parts of a pattern that a route is made from.
#pragma once

#include <vector>

#include "model/base/types.hpp"
#include "model/pattern/node_traffic.hpp"

namespace commpass {

/// The part of a pattern that these tables need.
enum class PatternNeed {
  nothing,
  node_traffic,  ///< how much goes from each rank to each node
  rank_traffic   ///< how much goes from each rank to each rank
};

/// The tables that routes take from a pattern, the same on every rank. A route fills and reads its own.
struct PatternTables {
  NodeTraffic traffic;  ///< of routes with relays
  std::vector<Rank>
      positions;  ///< of routes with placed ranks: by rank, see placement.hpp; empty: every rank at its own number
};

}  // namespace commpass
