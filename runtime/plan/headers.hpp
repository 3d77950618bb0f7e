// What a rank hears of the messages that come to it in a stage, whoever tells it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/route/route.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// The blocks that a message brings, in its order.
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

/// Tells what comes in a stage to a rank that sends `departures` of the blocks `held`. Stages are asked for in their
/// order, all of them. Where ranks tell each other, one that fails still takes part, with nothing, and throws after.
using HeaderSource = std::function<Headers(int stage, const Departures& departures, std::span<const Block> held)>;

}  // namespace commpass
