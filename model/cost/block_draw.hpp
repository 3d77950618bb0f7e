// Which blocks of the messages of an all-to-all a random pattern has. Private to the model.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "model/cost/cost.hpp"

namespace commpass {

/// Random numbers. In its own way, because the distributions of the standard library differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  double uniform();  ///< in (0, 1]
  double normal();   ///< of mean 0 and variance 1

 private:
  std::mt19937_64 random_;
};

/// Draws how many of the blocks that could be there are there.
class Presence {
 public:
  /// @param kept  where every sender has the same number of blocks: the part of a sender's blocks that are here; none:
  ///              every block is drawn alone
  explicit Presence(double density, std::optional<double> kept = {});

  /// The number of blocks present among `blocks` new ones; a normal distribution gives it for many blocks.
  std::int64_t of(std::int64_t blocks);
  /// Passes over `messages` messages of `blocks` blocks each, up to the next one with a block.
  /// @return the number of messages passed over
  std::int64_t pass_empty(std::int64_t messages, std::int64_t blocks);

 private:
  double gap(), even_gap();

  Random random_{1};
  bool rare_is_present_;
  double rare_;  // the probability of the rare kind
  double rate_;  // log of the probability of the common kind
  std::optional<double> kept_;
  double stratum_ = 0, place_ = -1;  // where senders are even: the next of the strata; of the last block
  double common_left_;
};

/// The blocks of a message that are there.
class BlockDraw {
 public:
  /// @param layout  alive as long as this
  BlockDraw(const RandomPattern& pattern, const Layout& layout);

  /// Is every block there, and as large as the others?
  bool is_complete() const { return is_complete_; }

  /// In the first stage a rank sends its own blocks.
  void begin_stage(int stage) { is_first_stage_ = stage == 0; }

  /// The mean size of the next `blocks` blocks, which lie in one message.
  double block_bytes(std::int64_t blocks);

  /// Draws how many of the `blocks` blocks of a message are present. Of a message within a node, `blocks` ÷ nodes, at
  /// least one, count as blocks between ranks of that node. This is exact for single blocks, and for messages with
  /// blocks for, or from, all nodes.
  std::int64_t of(std::int64_t blocks, Rank from, Rank to);

  /// Passes over the empty ones among messages between nodes, of `blocks` blocks each, up to the first that is not.
  std::int64_t pass_empty(std::int64_t messages, std::int64_t blocks) {
    return off_node().pass_empty(messages, blocks);
  }

  /// The part of them that is not empty, on average.
  double share_present(std::int64_t blocks) const;
  double density_off_node() const { return density_off_node_; }

 private:
  const Layout& layout_;
  bool is_complete_;
  Presence& on_node() { return is_even_ && is_first_stage_ ? even_on_node_ : on_node_; }
  Presence& off_node() { return is_even_ && is_first_stage_ ? even_off_node_ : off_node_; }

  bool is_even_, is_first_stage_ = true;
  double density_off_node_, block_bytes_, size_variance_;
  Presence on_node_, off_node_, even_on_node_, even_off_node_;
  Random sizes_{2};
};

/// A message of an all-to-all with only `blocks` of its blocks.
UniformMessage with_blocks(const UniformMessage& full, std::int64_t blocks);

}  // namespace commpass
