// The cost of a stage of a sparse exchange, whose receivers have to learn of their messages.
#pragma once

#include <span>
#include <vector>

#include "model/cost/batch_times.hpp"
#include "model/machine/layout.hpp"
#include "model/route/sparse_strategy.hpp"

namespace commpass {

/// Header of a block whose message holds several: source, destination, size. A message with a size has as much.
inline constexpr double header_bytes = 16;

/// One round of a reduction by recursive doubling, or halving where the numbers are scattered.
struct ReductionRound {
  Level level = 0;       ///< of the farthest pair, or the outermost one if that is on two nodes
  double scattered = 1;  ///< the part of all numbers that still moves
};

/// Those of a reduction among these ranks on the way to the one that is done last: its own, and before them those of
/// the ranks that it waited for. Ranks beyond a power of two give their numbers to a neighbour first and get the result
/// from it at last.
/// @param round_seconds  what a round takes, by level
std::vector<ReductionRound> reduction_rounds(std::span<const Rank> members, const Layout& layout,
                                             const ByLevel& round_seconds);

/// The level of two ranks, the outermost one if they are on two nodes.
inline Level level_or_outermost(const Layout& layout, Rank a, Rank b) {
  const auto level = layout.level(a, b);
  return level > layout.node_level() ? layout.outermost() : level;
}

/// Among whom a stage takes place.
struct DiscoveryGroup {
  double ranks = 1;
  double ranks_on_node = 1;  ///< that take part at the same time, in this group or in others
  std::vector<ReductionRound> rounds;
  // By level; messages that leave a node are of the outermost one.
  ByLevel peers{};            ///< of the rank that others wait for
  ByLevel tellers_peers{};    ///< of that one of its peers which has most of them
  double node_far_share = 0;  ///< of what ranks hold, the part for peers on other nodes, summed over those of a node;
                              ///< that node of which it is the most

  double all_peers() const;
};

/// Predicts the seconds of a stage by what its busiest rank sends and gets; copies of blocks apart.
/// @throws InputError if the machine has no parameters for a level of the group
Seconds discovery_seconds(Discovery discovery, const DiscoveryGroup& group, const BatchLoad& load,
                          const Machine& machine);

/// The same where messages within nodes go through memory of the node (runtime/sparse/node_mail.hpp).
/// @param node_memory  the machine with_node_memory
Seconds discovery_seconds(Discovery discovery, const DiscoveryGroup& group, const BatchLoad& load,
                          const Machine& machine, const Machine& node_memory);

}  // namespace commpass
