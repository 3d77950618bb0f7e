// Which strategy to take for a sparse dynamic data exchange, of which nobody knows the pattern: by what all ranks
// together have sent before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/sparse_strategy.hpp"

namespace commpass {

/// What one rank sends, and, combined, what all ranks send. Messages to oneself do not count. Integers, so that the
/// order of summation does not matter and every rank has the same.
struct SparseStatistics {
  static constexpr std::size_t sum_count = 4, maximum_count = 6;
  static constexpr std::size_t told_besides =
      4;  ///< numbers, where ranks tell each other these: failures and what slots have to hold

  // Sums over all ranks:
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t network_messages = 0;  ///< to other nodes
  std::int64_t nodes_reached = 0;     ///< other nodes to which a rank sends
  // The most of any rank:
  std::int64_t messages_max = 0;
  std::int64_t bytes_max = 0;
  std::int64_t network_messages_max = 0;
  std::int64_t nodes_reached_max = 0;
  std::int64_t received_messages_max = 0;
  std::int64_t received_bytes_max = 0;
  bool operator==(const SparseStatistics&) const = default;
};

/// The statistics of a rank that sends to these ranks.
/// @param bytes  of each message
SparseStatistics statistics_of(Rank rank, std::span<const Rank> destinations, std::span<const Bytes> bytes,
                               const Layout& layout);

/// What all ranks together send and get.
SparseStatistics statistics_of(const Pattern& pattern, const Layout& layout);

/// What to expect if every rank sends so many messages of so many bytes to ranks drawn at random.
SparseStatistics expected_statistics(double messages, double bytes, const Layout& layout);

/// A strategy and its predicted seconds.
struct SparseCandidate {
  SparseStrategy strategy;
  Seconds seconds = 0;
};

/// Prices strategies by statistics. Uses integers and basic arithmetic alone, so that all ranks of a machine get the
/// same.
///
/// An estimate: it takes messages to be spread evenly over the ranks that may get them, and the largest sender and the
/// largest receiver to decide (docs/model.md).
class SparseChoice {
 public:
  /// @param constant_size  are all messages equally large?
  /// @throws InputError if the machine has no parameters for a locality that the layout has
  SparseChoice(const Layout& layout, const Machine& machine, bool constant_size);

  /// All suggested strategies that have a price on the machine (offer.hpp) by predicted time; ties in the order of the
  /// suggestions.
  std::vector<SparseCandidate> rank(const SparseStatistics& statistics) const;
  /// The first of them.
  /// @param has_slots  are there slots to put into, or can they be made for this exchange? The same on every rank. If
  /// not, rma is left out.
  SparseCandidate best(const SparseStatistics& statistics, bool has_slots = true) const;

 private:
  using ByLocality = std::array<double, locality_count>;
  /// One round of a reduction by recursive doubling, or halving where the numbers are scattered.
  struct Round {
    std::size_t locality = 0;  ///< of the farthest peers
    double scattered = 1;      ///< the part of all numbers that still moves
  };
  /// Among whom a stage takes place: the dearest of its groups, and the rank of it with the farthest peers.
  struct StageShape {
    double ranks = 1;
    std::vector<Round> rounds;
    ByLocality peers{};
    double all_peers() const;
  };
  struct Shape {
    SparseStrategy strategy;
    std::vector<StageShape> stages;
    bool nodes_first = false;  ///< first to one rank of the destination's node, and then within the node
  };
  struct Load;

  static std::vector<Round> rounds_of(const std::vector<Rank>& members, const Layout& layout);
  std::vector<StageShape> stages_of(const SparseStrategy& strategy, const Layout& layout) const;
  Seconds price(const Shape& shape, const SparseStatistics& statistics) const;
  std::vector<Load> loads(const Shape& shape, const SparseStatistics& statistics) const;
  Seconds stage_seconds(Discovery discovery, const StageShape& stage, const Load& load) const;
  Seconds reduction_seconds(const StageShape& stage, double bytes, bool scattered = false) const;
  const Protocol& protocol(std::size_t locality, double bytes) const;

  double ranks_, ppn_;
  Machine machine_;
  std::vector<Shape> shapes_;
};

}  // namespace commpass
