// The sampler: a schedule that is too large to be run becomes a small one of representative nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/cost/cost.hpp"

namespace commpass {

/// The messages that a price simulates, at most: one second of a processor. Equal on all ranks, which decide by the
/// same prices.
inline constexpr std::int64_t simulated_messages_max = std::int64_t{1} << 20;

/// Nodes in the order in which samples take them, so that a larger sample contains the smaller one.
struct SamplingOrder {
  std::vector<int> nodes;
  std::size_t busiest = 0;  ///< of the first ones: chosen for their load; the others are drawn

  /// By rank: is it on one of the first `count` nodes?
  std::vector<bool> ranks_of_first(std::size_t count, const Layout& layout) const;
};

/// First the node of the busiest rank and the busiest node, then all others in an order that is the same everywhere.
/// @param busy  by rank: how long it sends or receives
SamplingOrder sampling_order(const Layout& layout, std::span<const Seconds> busy);

/// The seconds of the sampled nodes. A message that leaves the sample is at the same time one that arrives there, of
/// the same batch, level and about the same round, between the same local ranks. Of the two lists the longer one keeps
/// some peers outside. So each sampled rank sends, gets and copies as much as in the whole schedule.
/// @param part   of a schedule, with all messages from and to the first `count` nodes, complete
/// @param count  of sampled nodes
/// @throws InputError as evaluate
Cost evaluate_nodes(const Schedule& part, const Layout& layout, const Machine& machine, CostModel model,
                    const DataPath& path, const SamplingOrder& order, std::size_t count);

/// The seconds of all nodes, and the sampling error: two standard deviations.
/// - The mean of the nodes grows with the sample where ranks wait for others that wait. It is taken to grow on as it
///   does from a quarter of the sample to all of it, with the logarithm of the number of nodes.
/// - The slowest of all nodes is uncertain by the mean excess of the slowest drawn ones over the next (an exponential
///   tail); joined messages make the nodes of the quarter slower or faster there than in the sample.
/// @param count  of sampled nodes, four times the busiest ones at least
/// @throws InputError as evaluate
Cost evaluate_sample(const Schedule& part, const Layout& layout, const Machine& machine, CostModel model,
                     const DataPath& path, const SamplingOrder& order, std::size_t count);

}  // namespace commpass
