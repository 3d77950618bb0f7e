#include "model/reference_schedule.hpp"

#include <algorithm>

namespace commpass::test {

namespace {

/// Blocks that lie one after another.
using Memory = std::vector<std::size_t>;

/// Is `second` right behind `first` in one of the memories?
bool adjacent(const std::vector<Memory>& memories, std::size_t first, std::size_t second) {
  for (const auto& memory : memories)
    for (std::size_t i = 0; i + 1 < memory.size(); ++i)
      if (memory[i] == first && memory[i + 1] == second) return true;
  return false;
}

std::uint32_t pieces(const std::vector<Memory>& memories, const std::vector<std::size_t>& blocks) {
  std::uint32_t count = blocks.empty() ? 0 : 1;
  for (std::size_t i = 1; i < blocks.size(); ++i) count += !adjacent(memories, blocks[i - 1], blocks[i]);
  return count;
}

}  // namespace

ReferenceSchedule reference_schedule(const Route& route, const Pattern& pattern, Coalescing coalescing) {
  ReferenceSchedule result;
  std::map<std::pair<Rank, Rank>, int> count;
  for (const auto& edge : pattern.edges)
    if (edge.source != edge.destination && edge.bytes > 0)
      result.blocks.push_back({.source = edge.source, .destination = edge.destination, .index = count[{edge.source, edge.destination}]++, .bytes = edge.bytes});
  sort_blocks(result.blocks);
  route.cut(result.blocks);
  const auto& blocks = result.blocks;

  // Memories of each rank: its send buffer, its receive buffer, and what has landed.
  const auto by = [&](auto key) {
    Memory all;
    for (std::size_t b = 0; b < blocks.size(); ++b) all.push_back(b);
    std::ranges::sort(all, {}, [&](std::size_t b) { return key(blocks[b]); });
    return all;
  };
  std::map<Rank, std::vector<Memory>> here, receive_buffer;
  for (Rank rank = 0; rank < pattern.ranks; ++rank) {
    here[rank].emplace_back();
    receive_buffer[rank].emplace_back();
  }
  for (const auto b : by([](const Block& x) { return std::tuple(x.destination, x.index, x.offset); })) here[blocks[b].source][0].push_back(b);
  for (const auto b : by([](const Block& x) { return std::tuple(x.source, x.index, x.offset); })) receive_buffer[blocks[b].destination][0].push_back(b);

  std::vector<Rank>& at = result.at_the_end;
  for (const auto& block : blocks) at.push_back(block.source);
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
    auto& messages = result.stages.emplace_back();
    const bool staggered = coalescing == Coalescing::staggered && !route.stages()[static_cast<std::size_t>(stage)].one_by_one;
    std::map<std::pair<Rank, Rank>, int> blocks_between;
    for (const auto b : by([](const Block& x) { return std::tuple(x.destination, x.source, x.index, x.offset); }))
      if (const Rank to = route.next(blocks[b], at[b], stage); to != at[b]) {
        const int before = blocks_between[{at[b], to}]++;
        messages[{at[b], to, staggered ? before : 0}].blocks.push_back(b);
      }
    int most = 1;
    if (staggered)
      for (const auto& [ends, number] : blocks_between) most = std::max(most, number);
    // All leave from where they lay before the stage; then all land.
    for (auto& [key, message] : messages) {
      const auto [from, to, position] = key;
      const int round = route.round(from, to, stage);
      message.round = round == 0 ? 0 : (round - 1) * most + position + 1;
      for (const auto b : message.blocks) message.bytes += blocks[b].bytes;
      const auto needed = pieces(here[from], message.blocks);
      message.packed_pieces = needed > 1 ? needed : 0;
    }
    for (auto& [key, message] : messages) {
      for (const auto b : message.blocks) {
        for (auto& memory : here[std::get<0>(key)])  // it is gone; what is left keeps its place
          for (auto& other : memory)
            if (other == b) other = blocks.size();
        at[b] = std::get<1>(key);
      }
    }
    for (auto& [key, message] : messages) {
      const Rank to = std::get<1>(key);
      here[to].push_back(message.blocks);
      std::vector<std::size_t> finals;
      for (const auto b : message.blocks)
        if (blocks[b].destination == to) finals.push_back(b);
      const auto needed = pieces(receive_buffer[to], finals);
      if (finals.size() == message.blocks.size() && needed == 1) continue;
      message.unpacked_pieces = needed;
      for (const auto b : finals) message.unpacked_bytes += blocks[b].bytes;
    }
    std::map<Rank, std::pair<std::int64_t, Bytes>> held;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (at[b] != blocks[b].source && at[b] != blocks[b].destination) {
        ++held[at[b]].first;
        held[at[b]].second += blocks[b].bytes;
      }
    for (const auto& [rank, what] : held) {
      result.buffered_blocks_max = std::max(result.buffered_blocks_max, what.first);
      result.buffered_bytes_max = std::max(result.buffered_bytes_max, what.second);
    }
  }
  return result;
}

}  // namespace commpass::test
