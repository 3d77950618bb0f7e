#include "model/route/relay_route.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/base/error.hpp"
#include "model/grouping.hpp"

namespace commpass {

RelayRoute::RelayRoute(const Layout& layout, const NodeTraffic& traffic, const ChunkCap& cap, OnNode on_node)
    : layout_(layout) {
  const std::int64_t nodes = layout.nodes(), ppn = layout.max_ppn();
  const auto add = [&](Step step, const char* label) {
    steps_.push_back(step);
    const bool is_on_node = step != Step::to_receiver;
    stages_.push_back({.label = label, .messages_max = ppn * nodes * ((is_on_node ? ppn : nodes) - 1)});
  };
  if (on_node == OnNode::first) add(Step::on_node, "within the node");
  add(Step::to_sender, "to the sender");
  add(Step::to_receiver, "to the receiver on the other node");
  add(Step::to_destination, "to the destination");
  const auto receives = sum_up(traffic);
  make_chunks(receives, cap, traffic.unit);
  assign_relays();
}

std::vector<NodeReceives> RelayRoute::sum_up(const NodeTraffic& traffic) {
  auto entries = traffic.entries;
  stable_counting_sort(entries, layout_.nodes(), &NodeTraffic::Entry::node);
  stable_counting_sort(entries, layout_.nodes(), [&](const NodeTraffic::Entry& e) { return layout_.node(e.source); });
  std::vector<NodeReceives> receives(at(layout_.nodes()));
  for (const auto& [source, node, bytes] : entries) {
    auto& received = receives[at(node)];
    received.bytes += bytes;
    received.ppn = layout_.ppn(node);
    if (pairs_.empty() || pairs_.back().source_node != layout_.node(source) || pairs_.back().destination_node != node) {
      ++received.nodes;
      pairs_.push_back({.source_node = layout_.node(source), .destination_node = node});
    }
    begins_.push_back({source, node, pairs_.size() - 1, pairs_.back().bytes});
    pairs_.back().bytes += bytes;
  }
  first_begin_ = stable_counting_sort(begins_, layout_.nodes(), &Begin::node);
  return receives;
}

void RelayRoute::make_chunks(std::span<const NodeReceives> receives, const ChunkCap& cap, Bytes unit) {
  for (auto& pair : pairs_) {
    const auto ranks = std::max(layout_.ppn(pair.source_node), layout_.ppn(pair.destination_node));
    const auto least = (pair.bytes + ranks - 1) / ranks;
    const auto wanted = std::clamp(cap(receives[at(pair.destination_node)]), least, pair.bytes);
    pair.chunk_bytes = std::min((wanted - 1) / unit * unit + unit, pair.bytes);
    pair.first_chunk = static_cast<std::int32_t>(chunks_.size());
    if (pair.bytes / pair.chunk_bytes >= std::numeric_limits<std::int32_t>::max() - pair.first_chunk)
      throw Error("a route with relays: there are more than 2^31 chunks; use a larger cap.");
    for (Bytes left = pair.bytes; left > 0; left -= pair.chunk_bytes)
      chunks_.push_back({pair.source_node, pair.destination_node, std::min(left, pair.chunk_bytes), 0, 0});
  }
}

void RelayRoute::assign_relays() {
  std::vector<std::size_t> largest_first(chunks_.size());
  std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
  std::ranges::stable_sort(largest_first, std::ranges::greater{}, [&](std::size_t c) { return chunks_[c].bytes; });
  std::vector<std::size_t> sent(at(layout_.nodes()), 0), received(sent);
  for (const auto c : largest_first) {
    auto& chunk = chunks_[c];
    const auto senders = layout_.ranks_of(chunk.source_node), receivers = layout_.ranks_of(chunk.destination_node);
    chunk.sender = senders[senders.size() - 1 - sent[at(chunk.source_node)]++ % senders.size()];
    chunk.receiver = receivers[received[at(chunk.destination_node)]++ % receivers.size()];
  }
}

void RelayRoute::cut(std::vector<Block>& blocks) const {
  std::vector<Block> fragments;
  fragments.reserve(blocks.size());
  std::vector<Bytes> position(begins_.size());  // of the next block
  std::ranges::transform(begins_, position.begin(), &Begin::position);
  std::map<std::tuple<Rank, int, Payload>, Bytes> position_of_payload;
  // Blocks are sorted by destination, so that one table for the node at hand finds the begin of each without a search.
  std::vector<std::size_t> begin_of(at(layout_.ranks()),
                                    0);  // by source, into begins_; left from another node if it sends nothing
  int present = -1;
  for (const auto& block : blocks) {
    const int node = layout_.node(block.destination);
    if (layout_.node(block.source) == node) {
      fragments.push_back(block);
      continue;
    }
    if (node != std::exchange(present, node))
      for (auto b = first_begin_[at(node)]; b < first_begin_[at(node) + 1]; ++b) begin_of[at(begins_[b].source)] = b;
    const auto b = begin_of[at(block.source)];
    const bool is_known = b < begins_.size() && begins_[b].source == block.source && begins_[b].node == node;
    auto* here = is_known ? &position[b] : nullptr;
    // All that takes a payload to a node is cut alike, as if it were one block.
    Bytes repeated = 0;
    if (here && block.payload != no_payload) {
      const auto [first, is_first] = position_of_payload.try_emplace({block.source, node, block.payload}, *here);
      repeated = first->second;
      if (!is_first) here = &repeated;
    }
    if (!here || *here + block.bytes > pairs_[begins_[b].pair].bytes)
      throw Error(fmt::format("a route with relays: it was made for a pattern in which rank {} sends less to node {}.",
                              block.source, node));
    const auto& pair = pairs_[begins_[b].pair];
    for (Bytes done = 0; done < block.bytes;) {
      const auto chunk = *here / pair.chunk_bytes;
      const auto bytes = std::min(block.bytes - done, (chunk + 1) * pair.chunk_bytes - *here);
      fragments.push_back({block.source, block.destination, block.index,
                           static_cast<std::int32_t>(pair.first_chunk + chunk), bytes, done, block.payload});
      done += bytes;
      *here += bytes;
    }
  }
  blocks = std::move(fragments);
}

Rank RelayRoute::next(const Block& block, Rank holder, int stage) const {
  const bool is_on_node = block.chunk == Block::no_chunk;
  switch (steps_[at(stage)]) {
    case Step::on_node: return is_on_node ? block.destination : holder;
    case Step::to_sender: return is_on_node ? holder : chunks_[at(block.chunk)].sender;
    case Step::to_receiver: return is_on_node ? holder : chunks_[at(block.chunk)].receiver;
    case Step::to_destination: return block.destination;
  }
  return holder;
}

void RelayRoute::next_of_each(std::span<const Block> blocks, std::span<const Rank> holders, int stage,
                              std::span<Rank> to) const {
  for (std::size_t i = 0; i < blocks.size(); ++i) to[i] = next(blocks[i], holders[i], stage);
}

std::vector<UniformRun> RelayRoute::uniform_runs(Rank, int) const {
  throw NotApplicable("with relays", "it has no closed form, because its relays depend on the pattern");
}

}  // namespace commpass
