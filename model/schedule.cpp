#include "model/schedule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace commpass {

namespace {

std::size_t at_index(Rank rank) { return static_cast<std::size_t>(rank); }

/// Sorts `numbers` by a key in 0 … keys−1, keeping the order of equal keys.
template <class Key>
void stable_counting_sort(std::vector<std::uint32_t>& numbers, int keys, Key key) {
  std::vector<std::uint32_t> start(static_cast<std::size_t>(keys) + 1, 0), sorted(numbers.size());
  for (const auto number : numbers) ++start[at_index(key(number)) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (const auto number : numbers) sorted[start[at_index(key(number))]++] = number;
  numbers = std::move(sorted);
}

}  // namespace

void sort_blocks(std::vector<Block>& blocks) {
  std::ranges::sort(blocks, {}, [](const Block& b) { return std::tuple(b.destination, b.source, b.index, b.offset); });
}

Departures depart(const Route& route, int stage, Window window, std::span<const Block> blocks, std::span<const Rank> at,
                  int ranks) {
  Departures result;
  window = window_of(route.stages()[static_cast<std::size_t>(stage)], window);
  std::vector<Rank> to(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    to[b] = route.next(blocks[b], at[b], stage);
    if (to[b] != at[b]) result.order.push_back(b);
  }
  // Blocks come sorted by (destination, source); two stable sorts group them by (sender, receiver) and keep that.
  stable_counting_sort(result.order, ranks, [&](std::uint32_t b) { return to[b]; });
  stable_counting_sort(result.order, ranks, [&](std::uint32_t b) { return at[b]; });

  auto& messages = result.messages;
  for (std::uint32_t i = 0; i < result.order.size(); ++i) {
    const auto b = result.order[i];
    if (messages.empty() || messages.back().from != at[b] || messages.back().to != to[b]) {
      const int round = route.round(at[b], to[b], stage);
      messages.push_back({.from = at[b], .to = to[b], .round = round, .batch = window.batch(round), .first_block = i});
    }
    messages.back().bytes += blocks[b].bytes;
    ++messages.back().blocks;
  }
  std::ranges::sort(messages, {}, [](const Message& m) { return std::tuple(m.from, m.batch, m.round, m.to); });
  return result;
}

Window window_of(const StageInfo& stage, Window window) { return stage.one_by_one ? Window{1} : window; }

std::uint32_t most_blocks(std::span<const Message> messages) {
  std::uint32_t most = 0;
  for (const auto& message : messages) most = std::max(most, message.blocks);
  return most;
}

int staggered_round(int round, std::uint32_t position, std::uint32_t most_blocks) {
  if (round == 0) return 0;
  const auto staggered = std::int64_t{round - 1} * most_blocks + position + 1;
  return static_cast<int>(std::min<std::int64_t>(staggered, std::numeric_limits<int>::max()));  // those above share the last
}

void stagger(Departures& departures, Window window, std::span<const Block> blocks, std::uint32_t most_blocks) {
  std::vector<Message> staggered;
  staggered.reserve(departures.order.size());
  for (const auto& message : departures.messages)
    for (std::uint32_t i = 0; i < message.blocks; ++i) {
      auto& single = staggered.emplace_back(message);
      single.round = staggered_round(message.round, i, most_blocks);
      single.batch = window.batch(single.round);
      single.first_block = message.first_block + i;
      single.blocks = 1;
      single.bytes = blocks[departures.order[single.first_block]].bytes;
    }
  // Stable: blocks that share a round stay in the order in which the receiver expects them.
  std::ranges::stable_sort(staggered, {}, [](const Message& m) { return std::tuple(m.from, m.batch, m.round, m.to); });
  departures.messages = std::move(staggered);
}

std::uint32_t count_pieces(std::span<const std::uint32_t> numbers, std::span<const Block> blocks,
                           std::span<const std::int64_t> where) {
  std::uint32_t pieces = 0;
  std::int64_t end = 0;
  for (const auto number : numbers) {
    if (pieces == 0 || where[number] != end) ++pieces;
    end = where[number] + blocks[number].bytes;
  }
  return pieces;
}

std::vector<Block> blocks_of(const Pattern& pattern) {
  std::vector<Block> blocks;
  blocks.reserve(pattern.edges.size());
  for (const auto& [source, destination, bytes] : pattern.edges)
    if (source != destination && bytes > 0) blocks.push_back({.source = source, .destination = destination, .bytes = bytes});
  std::ranges::stable_sort(blocks, {}, [](const Block& b) { return std::pair(b.destination, b.source); });
  for (std::size_t b = 1; b < blocks.size(); ++b)
    if (blocks[b].destination == blocks[b - 1].destination && blocks[b].source == blocks[b - 1].source)
      blocks[b].index = blocks[b - 1].index + 1;
  return blocks;
}

namespace {

/// Where the blocks of all ranks lie while a schedule is made. Every rank has an address space of its own: its send
/// buffer, then one landing area for each message that it receives.
class Addresses {
 public:
  Addresses(std::span<const Block> blocks, int ranks)
      : blocks_(blocks), where_(blocks.size()), destination_(blocks.size()), used_(static_cast<std::size_t>(ranks), 0) {
    // Blocks are sorted by destination, so one pass fills the send buffers in that order.
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      where_[b] = used_[at_index(blocks[b].source)];
      used_[at_index(blocks[b].source)] += blocks[b].bytes;
      const bool same = b > 0 && blocks[b].destination == blocks[b - 1].destination;
      destination_[b] = same ? destination_[b - 1] + blocks[b - 1].bytes : 0;
    }
  }

  /// Counts the copies of a message and moves its blocks to their landing area.
  void move(Message& message, std::span<const std::uint32_t> numbers) {
    const auto pieces = count_pieces(numbers, blocks_, where_);
    message.packed_pieces = pieces > 1 ? pieces : 0;

    auto address = used_[at_index(message.to)] + 1;  // a gap, so that two areas are never taken for one piece
    finals_.clear();
    for (const auto number : numbers) {
      where_[number] = address;
      address += blocks_[number].bytes;
      if (blocks_[number].destination == message.to) finals_.push_back(number);
    }
    used_[at_index(message.to)] = address;

    const auto final_pieces = count_pieces(finals_, blocks_, destination_);
    if (finals_.size() == numbers.size() && final_pieces == 1) return;  // received in place
    message.unpacked_pieces = final_pieces;
    for (const auto number : finals_) message.unpacked_bytes += blocks_[number].bytes;
  }

 private:
  std::span<const Block> blocks_;
  std::vector<std::int64_t> where_, destination_, used_;
  std::vector<std::uint32_t> finals_;
};

void note_buffers(Schedule& schedule, std::span<const Block> blocks, std::span<const Rank> at) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(schedule.ranks)), bytes(count.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (at[b] == blocks[b].source || at[b] == blocks[b].destination) continue;
    ++count[at_index(at[b])];
    bytes[at_index(at[b])] += blocks[b].bytes;
  }
  schedule.buffered_blocks_max = std::max(schedule.buffered_blocks_max, std::ranges::max(count));
  schedule.buffered_bytes_max = std::max(schedule.buffered_bytes_max, std::ranges::max(bytes));
}

}  // namespace

Schedule make_schedule(const Route& route, Window window, const Pattern& pattern, Coalescing coalescing) {
  Schedule schedule;
  schedule.ranks = pattern.ranks;
  schedule.self_bytes.resize(static_cast<std::size_t>(pattern.ranks));
  for (const auto& edge : pattern.edges)
    if (edge.source == edge.destination) schedule.self_bytes[at_index(edge.source)] += edge.bytes;

  auto blocks = blocks_of(pattern);
  route.cut(blocks);
  std::vector<Rank> at(blocks.size());
  std::ranges::transform(blocks, at.begin(), &Block::source);
  Addresses addresses(blocks, pattern.ranks);
  const auto& stages = route.stages();
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    auto info = stages[static_cast<std::size_t>(s)];
    auto departures = depart(route, s, window, blocks, at, pattern.ranks);
    if (is_staggered(info, coalescing)) {
      const auto most = most_blocks(departures.messages);
      stagger(departures, window, blocks, most);
      info.rounds = most > 0 ? staggered_round(info.rounds, most - 1, most) : 0;
    }
    for (auto& message : departures.messages) {
      const auto numbers = std::span(departures.order).subspan(message.first_block, message.blocks);
      addresses.move(message, numbers);
      for (const auto number : numbers) at[number] = message.to;
    }
    schedule.stages.push_back({std::move(info), std::move(departures.messages)});
    note_buffers(schedule, blocks, at);
  }
  return schedule;
}

}  // namespace commpass
