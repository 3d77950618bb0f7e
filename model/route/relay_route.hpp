// Routes over relays: blocks from one node to another pass through one rank on each of the two.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/node_traffic.hpp"
#include "model/route/route.hpp"

namespace commpass {

/// A part of the blocks from one node to another, and the ranks that pass it on.
struct Chunk {
  int source_node = 0;
  int destination_node = 0;
  Bytes bytes = 0;
  Rank sender = 0;    ///< on the source node
  Rank receiver = 0;  ///< on the destination node
};

/// What one node receives from the others.
struct NodeReceives {
  Bytes bytes = 0;
  int nodes = 0;  ///< of their senders
  int ppn = 0;    ///< its ranks
};

/// The most bytes of a chunk for a node that receives this.
using ChunkCap = std::function<Bytes(const NodeReceives&)>;

/// Sends blocks for other nodes to the sender of their chunk, from there to its receiver, and on to their destination.
///
/// The blocks from one node to another, ordered by source and destination, are cut at every multiple of the cap. Beyond
/// the paper, the cap grows until there are no more chunks than the larger of the two nodes has ranks: more would meet
/// in the same messages again, and would only cost headers. Then the chunks that a node receives are assigned to its
/// ranks in descending order of size, from local rank 0 up and over again; those that it sends likewise, from its last
/// local rank down. Equal sizes are in order of the other node. No stage has rounds: all receives of a stage are posted
/// at once. Source: node-aware paper (Lockhart, Bienz, Gropp, Olson) §2.3.1, §2.3.3 and algorithm 1, lines 17 and 18.
class RelayRoute final : public Route {
 public:
  /// When blocks move whose source and destination share a node: in a stage of their own before all others, or in the
  /// last one.
  enum class OnNode { first, last };

  /// @throws Error if there are more than 2^31 chunks
  RelayRoute(const Layout& layout, const NodeTraffic& traffic, const ChunkCap& cap, OnNode on_node);

  const std::vector<StageInfo>& stages() const override { return stages_; }
  void cut(std::vector<Block>& blocks) const override;
  bool cuts() const override { return true; }
  Rank next(const Block& block, Rank at, int stage) const override;
  void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override;
  int round(Rank, Rank, int) const override { return 0; }
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override;

  const std::vector<Chunk>& chunks() const { return chunks_; }

 private:
  enum class Step { on_node, to_sender, to_receiver, to_destination };

  /// All that goes from one node to another.
  struct Pair {
    int source_node = 0;
    int destination_node = 0;
    Bytes bytes = 0;
    Bytes chunk_bytes = 0;         ///< of all chunks but the last
    std::int32_t first_chunk = 0;  ///< the others follow
  };
  /// Where among the bytes of a pair those of one source begin.
  struct Begin {
    Rank source = 0;
    int node = 0;
    std::size_t pair = 0;
    Bytes position = 0;
  };

  /// Fills pairs_ and begins_. @return what each node receives
  std::vector<NodeReceives> sum_up(const NodeTraffic& traffic);
  void make_chunks(std::span<const NodeReceives> receives, const ChunkCap& cap, Bytes unit);
  void assign_relays();

  Layout layout_;
  std::vector<StageInfo> stages_;
  std::vector<Step> steps_;  ///< of each stage
  std::vector<Pair> pairs_;
  std::vector<Begin> begins_;             ///< grouped by node
  std::vector<std::size_t> first_begin_;  ///< by node, into begins_; and their number at the end
  std::vector<Chunk> chunks_;             ///< sorted by source node, destination node and position
};

}  // namespace commpass
