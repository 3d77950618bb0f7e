// The choice of a strategy for a sparse dynamic data exchange, whose pattern no rank knows: by what all ranks
// together have sent before.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/cost/discovery_cost.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/sparse_traffic.hpp"
#include "model/route/sparse_strategy.hpp"

namespace commpass {

/// A strategy and its predicted seconds.
struct SparseCandidate {
  SparseStrategy strategy;
  Seconds seconds = 0;
  bool exceeds_limit = false;  ///< more messages come to a rank before their receives than limits.unexpected_messages
};

/// A stage of a strategy, by its busiest rank.
struct SparseStageCost {
  double ranks = 1;     ///< among whom it takes place
  double messages = 0;  ///< that a rank sends
  double received = 0;  ///< that come to a rank by MPI
  double bytes = 0;     ///< of each that it sends
  Seconds seconds = 0;
  Seconds copying_s = 0;  ///< as part of these: copies of blocks into messages and out of them
};

/// Prices strategies by what ranks send.
///
/// An estimate: it takes messages to be spread evenly over the ranks that may get them, and the largest sender and the
/// largest receiver to decide (docs/model.md). Of many ranks, some are looked at to find out among whom stages take
/// place.
class SparseChoice {
 public:
  /// @param constant_size  are all messages equally large?
  /// @throws InputError if the machine has no parameters for a level that the layout has
  SparseChoice(const Layout& layout, const Machine& machine, bool constant_size);
  /// Of these strategies alone, each of which has a price (why_no_price).
  SparseChoice(const Layout& layout, const Machine& machine, const std::vector<SparseStrategy>& strategies);

  /// All suggested strategies that have a price on the machine (offer.hpp), or all that were given, by predicted time;
  /// those that exceed a limit come last, ties in the order of the suggestions.
  std::vector<SparseCandidate> rank(const SparseTraffic& traffic) const;
  /// The first of them.
  /// @param has_slots  are there slots to put into, or can they be made for this exchange? The same on every rank. If
  /// not, rma is left out.
  SparseCandidate best(const SparseTraffic& traffic, bool has_slots = true) const;
  /// Those of a strategy that is ranked, whose seconds add up to its price. Of one rank there are none.
  std::vector<SparseStageCost> stages(const SparseStrategy& strategy, const SparseTraffic& traffic) const;

 private:
  /// A strategy, and the most expensive group of each of its stages.
  struct Shape {
    SparseStrategy strategy;
    std::vector<DiscoveryGroup> stages;
    bool nodes_first = false;       ///< first to one rank of the destination's node, and then within the node
    std::ptrdiff_t far_stages = 0;  ///< in which messages leave their node
  };
  struct Load;
  struct Blocks;

  std::vector<SparseStageCost> stages(const Shape& shape, const SparseTraffic& traffic) const;
  Load direct_load(const Shape& shape, const SparseTraffic& traffic, const Blocks& blocks) const;
  Load stage_load(const Shape& shape, std::size_t stage, const SparseTraffic& traffic, const Blocks& blocks) const;
  Seconds copy_seconds(double blocks, double bytes) const;

  double ranks_, ppn_;
  Machine machine_, node_memory_;  ///< with messages within nodes by MPI, and through memory
  std::vector<Shape> shapes_;
};

/// A reason why a strategy cannot be priced for a layout on a machine, or empty.
/// @param constant_size  are all messages equally large?
std::string why_no_price(const SparseStrategy& strategy, const Layout& layout, const Machine& machine,
                         bool constant_size);

}  // namespace commpass
