// The sample: a small explicit schedule, whose price is that of a larger exchange.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/cost/cost.hpp"

namespace commpass {

/// Multiplicity of a message in the schedule of a sample.
struct Folded {
  Level level = 0;             ///< of its ends, which the layout of the sample cannot tell
  std::uint32_t messages = 1;  ///< how many equal messages of one sender it represents, one right after another
  std::uint32_t batches = 1;   ///< how many equal batches its batch represents; the same for all of a batch
};
using Foldings = std::vector<std::vector<Folded>>;  // by stage and message

/// Some ranks among all.
struct SampledPart {
  std::array<double, most_levels> of_level;  ///< the sampled ranks ÷ those of their instances; 1 within nodes
  double all_ranks;                          ///< all ranks ÷ those that are run
};
/// @param sampled  ranks of whole nodes
/// @param run      how many ranks are run: these, and their partners
SampledPart part_of_ranks(const Layout& layout, std::span<const Rank> sampled, std::size_t run);

/// What some ranks of a large exchange do, in place of all: of a random pattern, a neighbourhood or many edges.
struct Sample {
  Schedule schedule;    ///< of the ranks that are run, in numbers of their own
  Layout layout;        ///< of these
  SampledPart part;     ///< what they have of the rates that they share with others
  Foldings foldings{};  ///< of the messages; empty: each is what it is

  std::vector<int> place{};               ///< by rank, the place of its node in the sampling order; −1: a partner
  std::size_t nodes = 0, busiest = 0;     ///< of the whole, and those that were chosen for their load
  std::shared_ptr<const Sample> fewer{};  ///< of the first ones of its nodes: tells the error; null: none is told
};

/// Predicts the seconds of the whole exchange, and the sampling error, two standard deviations, where a sample tells
/// it.
/// - The mean of the nodes grows with the sample where ranks wait for others that wait. It is taken to grow on as it
///   does from a quarter of the sample to all of it, with the logarithm of the number of nodes.
/// - The slowest of all nodes is uncertain by the mean excess of the slowest drawn ones over the next (an exponential
///   tail); joined messages make the nodes of the quarter slower or faster there than in the sample.
/// @throws InputError as evaluate of a schedule; the caller sees to it that the machine has parameters for the whole
Cost evaluate(const Sample& sample, const Machine& machine, CostModel model = CostModel::burst,
              Usage usage = Usage::planned, const DataPath& path = {});

/// The messages that a price simulates, at most: one second of a processor. Equal on all ranks, which decide by the
/// same prices.
inline constexpr std::int64_t simulated_messages_max = std::int64_t{1} << 20;

/// The same where a program chooses, since its ranks wait for the longest price. What the error of a sample leaves
/// open, trials decide.
inline constexpr std::int64_t simulated_messages_max_in_program = std::int64_t{1} << 17;

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

/// The sample of the first `count` nodes. A message that leaves the sample is at the same time one that arrives there,
/// of the same batch, level and about the same round, between the same local ranks. Of the two lists the longer one
/// keeps some peers outside. So each sampled rank sends, gets and copies as much as in the whole schedule.
/// @param part    of a schedule, with all messages from and to these nodes, complete
/// @param layout  on() the machine
Sample sample_of_nodes(const Schedule& part, const Layout& layout, const SamplingOrder& order, std::size_t count);

/// The same, of whose price the error is told.
/// @param count  of sampled nodes, four times the busiest ones at least
Sample sample_with_error(const Schedule& part, const Layout& layout, const SamplingOrder& order, std::size_t count);

}  // namespace commpass
