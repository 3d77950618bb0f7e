#include "model/schedule/reference_schedule.hpp"

#include <algorithm>
#include <utility>

namespace commpass::test {

namespace {

/// A buffer or what a message brought: where each block begins.
using Memory = std::map<std::size_t, Bytes>;

/// Whether `second` is right behind `first` in one of the memories.
bool adjacent(const std::vector<Block>& blocks, const std::vector<Memory>& memories, std::size_t first,
              std::size_t second) {
  return std::ranges::any_of(memories, [&](const Memory& m) {
    return m.contains(first) && m.contains(second) && m.at(first) + blocks[first].bytes == m.at(second);
  });
}

bool have_the_same_bytes(const Block& a, const Block& b) {
  return a.source == b.source && a.payload != no_payload && a.payload == b.payload && a.offset == b.offset &&
         a.bytes == b.bytes;
}

}  // namespace

ReferenceSchedule reference_schedule(const Route& route, const Pattern& pattern, Coalescing coalescing) {
  ReferenceSchedule result;
  std::map<std::pair<Rank, Rank>, int> count;
  for (const auto& edge : pattern.edges)
    if (edge.source != edge.destination && edge.bytes > 0)
      result.blocks.push_back({.source = edge.source,
                               .destination = edge.destination,
                               .index = count[{edge.source, edge.destination}]++,
                               .bytes = edge.bytes,
                               .payload = edge.payload});
  sort_blocks(result.blocks);
  route.cut(result.blocks);
  const auto& blocks = result.blocks;

  // Memories of each rank: its send buffer, its receive buffer, and landed messages.
  const auto by = [&](auto key) {
    std::vector<std::size_t> all;
    for (std::size_t b = 0; b < blocks.size(); ++b) all.push_back(b);
    std::ranges::sort(all, {}, [&](std::size_t b) { return key(blocks[b]); });
    return all;
  };
  std::map<Rank, std::vector<Memory>> here, receive_buffer;
  for (Rank rank = 0; rank < pattern.ranks; ++rank) {
    here[rank].emplace_back();
    receive_buffer[rank].emplace_back();
  }
  std::map<Rank, Bytes> send_end, receive_end;
  std::map<std::pair<Rank, Payload>, Bytes> payload_begin;
  for (const auto b : by([](const Block& x) { return std::tuple(x.destination, x.index, x.offset); })) {
    const auto& block = blocks[b];
    auto& end = send_end[block.source];
    Bytes begin = end;
    if (block.payload != no_payload)
      begin = payload_begin.try_emplace({block.source, block.payload}, end).first->second + block.offset;
    here[block.source][0][b] = begin;
    end = std::max(end, begin + block.bytes);
  }
  for (const auto b : by([](const Block& x) { return std::tuple(x.source, x.index, x.offset); })) {
    auto& end = receive_end[blocks[b].destination];
    receive_buffer[blocks[b].destination][0][b] = end;
    end += blocks[b].bytes;
  }

  std::vector<Rank>& at = result.at_the_end;
  for (const auto& block : blocks) at.push_back(block.source);
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
    auto& messages = result.stages.emplace_back();
    const bool staggered =
        coalescing == Coalescing::staggered && !route.stages()[static_cast<std::size_t>(stage)].one_by_one;
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
      std::vector<std::size_t> brought;
      for (const auto b : message.blocks) {
        if (std::ranges::any_of(brought,
                                [&](std::size_t other) { return have_the_same_bytes(blocks[b], blocks[other]); }))
          continue;
        message.packed_pieces += brought.empty() || !adjacent(blocks, here[from], brought.back(), b);
        brought.push_back(b);
        message.bytes += blocks[b].bytes;
      }
      if (message.packed_pieces == 1) message.packed_pieces = 0;
    }
    for (auto& [key, message] : messages) {
      for (const auto b : message.blocks) {
        for (auto& memory : here[std::get<0>(key)]) memory.erase(b);  // the others keep their places
        at[b] = std::get<1>(key);
      }
    }
    for (auto& [key, message] : messages) {
      const Rank to = std::get<1>(key);
      auto& landed = here[to].emplace_back();
      Bytes end = 0;
      for (const auto b : message.blocks) {
        const auto like = std::ranges::find_if(
            landed, [&](const auto& other) { return have_the_same_bytes(blocks[b], blocks[other.first]); });
        const auto begin = like == landed.end() ? std::exchange(end, end + blocks[b].bytes) : like->second;
        landed[b] = begin;
      }
      std::vector<std::size_t> finals;
      for (const auto b : message.blocks) {
        if (blocks[b].destination != to) continue;
        message.unpacked_pieces += finals.empty() || !adjacent(blocks, {landed}, finals.back(), b) ||
                                   !adjacent(blocks, receive_buffer[to], finals.back(), b);
        message.unpacked_bytes += blocks[b].bytes;
        finals.push_back(b);
      }
      if (finals.size() == message.blocks.size() && message.unpacked_pieces == 1 &&
          message.unpacked_bytes == message.bytes)
        message.unpacked_pieces = 0, message.unpacked_bytes = 0;  // received where it belongs
    }
    std::map<Rank, std::pair<std::int64_t, Bytes>> held;
    for (const auto& [rank, memories] : here)
      for (const auto& memory : memories) {
        std::set<Bytes> places;
        for (const auto& [b, begin] : memory) {
          if (rank == blocks[b].source || rank == blocks[b].destination) continue;
          ++held[rank].first;
          if (places.insert(begin).second) held[rank].second += blocks[b].bytes;
        }
      }
    for (const auto& [rank, what] : held) {
      result.buffered_blocks_max = std::max(result.buffered_blocks_max, what.first);
      result.buffered_bytes_max = std::max(result.buffered_bytes_max, what.second);
    }
  }
  return result;
}

}  // namespace commpass::test
