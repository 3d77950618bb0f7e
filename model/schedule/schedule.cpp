#include "model/schedule/schedule.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "model/grouping.hpp"
#include "model/schedule/duplicates.hpp"

namespace commpass {

namespace {

std::size_t at_index(Rank rank) { return static_cast<std::size_t>(rank); }

/// By what the messages of a rank are ordered before their rounds.
std::int64_t turn(const Route& route, Window window, Rank from, Rank to) {
  return window.unlimited() ? route.turn(from, to) : 0;
}

/// Larger messages have lower numbers, where they go first; they come before turns.
int size_turn(const Route& route, Window window, const Message& message) {
  return route.sends_large_first() && window.unlimited() ? -size_class(message.bytes) : 0;
}

/// Sorts the messages of each sender, which stand together, by what `key` says of them; stable. Keys are computed once.
template <class Key>
void sort_those_of_each_sender(std::vector<Message>& messages, Key key) {
  using Keyed = std::pair<std::invoke_result_t<Key, const Message&>, Message>;
  std::vector<Keyed> keyed;
  for (auto begin = messages.begin(); begin != messages.end();) {
    const auto end = std::find_if(begin, messages.end(), [&](const Message& m) { return m.from != begin->from; });
    keyed.clear();
    for (const auto& message : std::span(begin, end)) keyed.emplace_back(key(message), message);
    if (!std::ranges::is_sorted(keyed, {}, &Keyed::first)) {
      std::ranges::stable_sort(keyed, {}, &Keyed::first);
      std::ranges::transform(keyed, begin, &Keyed::second);
    }
    begin = end;
  }
}

/// Once the sizes of messages are known.
void put_large_first(const Route& route, Window window, std::vector<Message>& messages) {
  if (!route.sends_large_first() || !window.unlimited()) return;
  sort_those_of_each_sender(messages, [&](const Message& m) { return size_turn(route, window, m); });
}

/// Groups the blocks that leave their ranks into messages, one stage after another in the same memory.
class Grouper {
 public:
  explicit Grouper(int ranks) : end_(at_index(ranks) + 1), blocks_(at_index(ranks), 0), place_(at_index(ranks)) {}

  /// Fills `result` but for the bytes of messages.
  void group(const Route& route, int stage, Window window, std::span<const Rank> at, std::span<const Rank> to,
             Departures& result) {
    window = window_of(route.stages()[static_cast<std::size_t>(stage)], window);
    const auto leaving = sort_by_sender(at, to);
    result.order.resize(leaving.size());
    result.messages.clear();
    result.messages.reserve(leaving.size());
    std::uint32_t position = 0;
    for (Rank from = 0; at_index(from) < blocks_.size(); ++from) {
      const auto own = leaving.subspan(position, end_[at_index(from)] - position);
      receivers_.resize(own.size());
      std::size_t count = 0;
      for (const auto& block : own) {
        receivers_[count] = block.to;
        count += blocks_[at_index(block.to)]++ == 0;
      }
      peers_.clear();
      for (const Rank receiver : std::span(receivers_).first(count))
        peers_.emplace_back(count > 1 ? turn(route, window, from, receiver) : 0, route.round(from, receiver, stage),
                            receiver);
      std::ranges::sort(peers_);
      for (const auto& [turn, round, receiver] : peers_) {
        auto& number = blocks_[at_index(receiver)];
        result.messages.push_back({.from = from,
                                   .to = receiver,
                                   .round = round,
                                   .batch = window.batch(round),
                                   .first_block = position,
                                   .blocks = number});
        place_[at_index(receiver)] = position;
        position += number;
        number = 0;
      }
      for (const auto& block : own) result.order[place_[at_index(block.to)]++] = block.number;
    }
  }

 private:
  /// A block that leaves its rank.
  struct Leaving {
    std::uint32_t number;
    Rank to;
  };

  /// The blocks that leave, by sender, those of one sender in the order of their numbers. Those of a rank end at end_.
  std::span<const Leaving> sort_by_sender(std::span<const Rank> at, std::span<const Rank> to) {
    // No branch depends on whether a block leaves: half of them do, in no order, where a digit has two values.
    numbers_.resize(at.size());
    leaving_.resize(at.size());
    std::ranges::fill(end_, 0);
    std::size_t count = 0;
    for (std::uint32_t b = 0; b < at.size(); ++b) {
      const bool leaves = to[b] != at[b];
      numbers_[count] = b;
      count += leaves;
      end_[at_index(at[b]) + 1] += leaves;
    }
    std::partial_sum(end_.begin(), end_.end(), end_.begin());
    for (const auto b : std::span(numbers_).first(count)) leaving_[end_[at_index(at[b])]++] = {b, to[b]};
    return std::span(leaving_).first(count);
  }

  std::vector<std::uint32_t> numbers_;  // of the blocks that leave
  std::vector<Leaving> leaving_;
  std::vector<std::uint32_t> end_;  // by sender
  std::vector<std::uint32_t> blocks_,
      place_;  // of one sender, by receiver: how many there are, where the next one goes
  std::vector<Rank> receivers_;
  std::vector<std::tuple<std::int64_t, int, Rank>> peers_;  // with their turns and rounds
};

/// Finds the blocks of each message that bring the bytes of others.
void find_carriers(Departures& departures, std::span<const std::uint32_t> first_alike) {
  if (first_alike.empty()) return;
  Carriers carriers(first_alike);
  departures.carriers.clear();
  departures.carriers.reserve(departures.order.size());
  for (const auto& message : departures.messages) {
    carriers.begin_message();
    for (std::uint32_t place = message.first_block; place < message.first_block + message.blocks; ++place)
      departures.carriers.push_back(carriers.carrier(departures.order[place], place));
  }
}

}  // namespace

int size_class(Bytes bytes) {
  constexpr int unit_bits = 13;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes) >> unit_bits));
}

void sort_blocks(std::vector<Block>& blocks) {
  std::ranges::sort(blocks, {}, [](const Block& b) { return std::tuple(b.destination, b.source, b.index, b.offset); });
}

namespace {

void finish_departures(Departures& departures, std::span<const Block> blocks) {
  find_carriers(departures, first_alike(blocks));
  for (auto& message : departures.messages)
    for (auto place = message.first_block; place < message.first_block + message.blocks; ++place)
      if (departures.carrier(place) == place) message.bytes += blocks[departures.order[place]].bytes;
}

}  // namespace

Departures depart(const Route& route, int stage, Window window, std::span<const Block> blocks, std::span<const Rank> at,
                  int ranks) {
  std::vector<Rank> to(blocks.size());
  route.next_of_each(blocks, at, stage, to);
  Departures result;
  Grouper(ranks).group(route, stage, window, at, to, result);
  finish_departures(result, blocks);
  put_large_first(route, window_of(route.stages()[static_cast<std::size_t>(stage)], window), result.messages);
  return result;
}

Departures depart_from(Rank rank, const Route& route, int stage, Window window, std::span<const Block> blocks) {
  window = window_of(route.stages()[static_cast<std::size_t>(stage)], window);
  std::vector<Rank> to(blocks.size());
  route.next_of_each(blocks, std::vector(blocks.size(), rank), stage, to);
  struct Leaving {
    std::int64_t turn;
    int round;
    Rank to;
    std::uint32_t number;
    auto operator<=>(const Leaving&) const = default;
  };
  std::vector<Leaving> leaving;
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    if (to[b] != rank) leaving.push_back({turn(route, window, rank, to[b]), route.round(rank, to[b], stage), to[b], b});
  std::ranges::sort(leaving);
  Departures result;
  for (const auto& [its_turn, round, receiver, number] : leaving) {
    auto& messages = result.messages;
    if (messages.empty() || messages.back().to != receiver)
      messages.push_back({.from = rank,
                          .to = receiver,
                          .round = round,
                          .batch = window.batch(round),
                          .first_block = static_cast<std::uint32_t>(result.order.size())});
    ++messages.back().blocks;
    result.order.push_back(number);
  }
  finish_departures(result, blocks);
  put_large_first(route, window, result.messages);
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
  return static_cast<int>(
      std::min<std::int64_t>(staggered, std::numeric_limits<int>::max()));  // those above share the last
}

void stagger(const Route& route, Departures& departures, Window window, std::span<const Block> blocks,
             std::uint32_t most_blocks) {
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
  sort_those_of_each_sender(
      staggered, [&](const Message& m) { return std::tuple(turn(route, window, m.from, m.to), m.round, m.to); });
  departures.messages = std::move(staggered);
  departures.carriers.clear();
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

namespace {

bool moves(const Edge& edge) { return edge.source != edge.destination && edge.bytes > 0; }

/// Blocks in the order of destinations; those of one in the order of the edges.
std::vector<Block> by_destination(std::span<const Edge> edges, int ranks) {
  std::vector<std::size_t> next(at_index(ranks) + 1, 0);
  for (const auto& edge : edges) next[at_index(edge.destination) + 1] += moves(edge);
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Block> blocks(next.back());
  for (const auto& edge : edges)
    if (moves(edge))
      blocks[next[at_index(edge.destination)]++] = {
          .source = edge.source, .destination = edge.destination, .bytes = edge.bytes, .payload = edge.payload};
  return blocks;
}

}  // namespace

std::vector<Block> blocks_of(const Pattern& pattern) {
  std::vector<Block> blocks;
  if (std::ranges::is_sorted(pattern.edges, {}, &Edge::source)) {  // as where ranks told theirs one after another
    blocks = by_destination(pattern.edges, pattern.ranks);
  } else {
    auto edges = pattern.edges;
    stable_counting_sort(edges, pattern.ranks, &Edge::source);
    blocks = by_destination(edges, pattern.ranks);
  }
  for (std::size_t b = 1; b < blocks.size(); ++b)
    if (blocks[b].destination == blocks[b - 1].destination && blocks[b].source == blocks[b - 1].source)
      blocks[b].index = blocks[b - 1].index + 1;
  return blocks;
}

PreparedPattern index_blocks(int ranks, std::vector<Block> blocks, std::vector<Bytes> self_bytes) {
  PreparedPattern result{ranks, std::move(blocks), {}, {}, {}, {}, std::move(self_bytes), {}, {}};
  result.ends.reserve(result.blocks.size());
  for (const auto& block : result.blocks) result.ends.push_back({block.source, block.destination});
  result.first_block.resize(at_index(ranks) + 1);
  for (const auto& block : result.blocks) ++result.first_block[at_index(block.destination) + 1];
  std::partial_sum(result.first_block.begin(), result.first_block.end(), result.first_block.begin());
  result.first_alike = first_alike(result.blocks);
  return result;
}

namespace {

/// Blocks are sorted by destination, and so are those of a send buffer.
std::vector<MemoryAddress> send_addresses(const PreparedPattern& pattern) {
  const auto& blocks = pattern.blocks;
  const auto& first = pattern.first_alike;
  std::vector<MemoryAddress> next(at_index(pattern.ranks) + 1);  // in the send buffer of each rank
  const auto has_place = [&](std::size_t b) { return first.empty() || first[b] == b; };
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (has_place(b)) next[at_index(blocks[b].source) + 1] += static_cast<MemoryAddress>(blocks[b].bytes);
  for (std::size_t rank = 1; rank < next.size(); ++rank)
    next[rank] += next[rank - 1] + 1;  // a gap, so that two buffers are never taken for one piece
  std::vector<MemoryAddress> addresses;
  addresses.reserve(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    auto& end = next[at_index(blocks[b].source)];
    addresses.push_back(has_place(b) ? end : addresses[first[b]]);
    if (has_place(b)) end += static_cast<MemoryAddress>(blocks[b].bytes);
  }
  return addresses;
}

void add_buffers(PreparedPattern& pattern) {
  pattern.send_bytes = pattern.receive_bytes = pattern.self_bytes;
  for (std::size_t b = 0; b < pattern.blocks.size(); ++b) {
    const auto& block = pattern.blocks[b];
    if (pattern.first_alike.empty() || pattern.first_alike[b] == b)
      pattern.send_bytes[at_index(block.source)] += block.bytes;
    pattern.receive_bytes[at_index(block.destination)] += block.bytes;
  }
}

/// The pattern with its blocks cut.
PreparedPattern cut(const Route& route, const PreparedPattern& whole) {
  auto blocks = whole.blocks;
  route.cut(blocks);
  auto result = index_blocks(whole.ranks, std::move(blocks), whole.self_bytes);
  result.send_bytes = whole.send_bytes;
  result.receive_bytes = whole.receive_bytes;
  result.send_address.reserve(result.blocks.size());
  std::size_t next = 0;  // of the whole blocks; each has a first fragment
  for (const auto& fragment : result.blocks) {
    if (fragment.offset == 0) ++next;
    result.send_address.push_back(whole.send_address[next - 1] + static_cast<MemoryAddress>(fragment.offset));
    if (!whole.receive_place.empty()) result.receive_place.push_back(whole.receive_place[next - 1] + fragment.offset);
  }
  return result;
}

/// Blocks lie where their edges do. Buffers of two ranks are never taken for one piece.
void set_places(PreparedPattern& prepared, std::span<const Edge> edges, const BufferPlaces& places) {
  const auto ranks = at_index(prepared.ranks);
  std::vector<MemoryAddress> buffer(ranks + 1);  // of each rank, from which on its blocks are sent
  for (std::size_t e = 0; e < edges.size(); ++e) {
    auto& end = buffer[at_index(edges[e].source) + 1];
    end = std::max(end, static_cast<MemoryAddress>(places.send[e] + edges[e].bytes) + 1);
  }
  std::partial_sum(buffer.begin(), buffer.end(), buffer.begin());
  auto next = prepared.first_block;
  prepared.receive_place.resize(prepared.blocks.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto& edge = edges[e];
    if (!moves(edge)) continue;
    const auto b = next[at_index(edge.destination)]++;
    prepared.send_address[b] = buffer[at_index(edge.source)] + static_cast<MemoryAddress>(places.send[e]);
    prepared.receive_place[b] = places.receive[e];
  }
}

}  // namespace

PreparedPattern prepare(const Pattern& pattern, const std::optional<BufferPlaces>& places) {
  std::vector<Bytes> self_bytes(at_index(pattern.ranks));
  for (const auto& edge : pattern.edges)
    if (edge.source == edge.destination) self_bytes[at_index(edge.source)] += edge.bytes;
  auto result = index_blocks(pattern.ranks, blocks_of(pattern), std::move(self_bytes));
  result.send_address = send_addresses(result);
  add_buffers(result);
  if (places) set_places(result, pattern.edges, *places);
  return result;
}

namespace {

/// What a rank holds for others.
struct Held {
  std::int64_t blocks = 0;
  Bytes bytes = 0;
};

/// Where the blocks of all ranks lie while a schedule is made: in send buffers, later in one landing area for each
/// message.
class Addresses {
 public:
  explicit Addresses(const PreparedPattern& pattern)
      : pattern_(pattern), blocks_(pattern.blocks.size()), held_(at_index(pattern.ranks)) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      blocks_[b] = {pattern.send_address[b], pattern.blocks[b].bytes};
      next_ = std::max(next_, pattern.send_address[b] + static_cast<MemoryAddress>(pattern.blocks[b].bytes));
    }
    first_landing_ = next_;
  }

  /// The most blocks and the most bytes that a rank holds for others now, if no two blocks share their bytes.
  Held most_held() const {
    Held most;
    for (const auto& [blocks, bytes] : held_) most = {std::max(most.blocks, blocks), std::max(most.bytes, bytes)};
    return most;
  }

  MemoryAddress operator[](std::size_t block) const { return blocks_[block].address; }

  /// Sums the bytes of the messages of a stage, counts their copies and moves their blocks to their landing areas.
  void move(Departures& departures) {
    // Blocks lie all over the memory: those of later messages are fetched ahead.
    constexpr std::size_t ahead = 32;
    std::size_t fetched = 0;
    const auto& order = departures.order;
    for (auto& message : departures.messages) {
      const std::size_t end = message.first_block + message.blocks;
      for (const auto needed = std::min(end + ahead, order.size()); fetched < needed; ++fetched)
        __builtin_prefetch(&blocks_[order[fetched]], 1);
      move(message, departures);
    }
  }

 private:
  static constexpr auto nowhere = std::numeric_limits<MemoryAddress>::max();

  void move(Message& message, const Departures& departures) {
    // Blocks of one destination are numbered in the order of its receive buffer, if they have no places there.
    const auto is_next_in_buffer = [&, places = std::span(pattern_.receive_place)](std::uint32_t number,
                                                                                   std::uint32_t last) {
      return places.empty() ? number == last + 1 : places[number] == places[last] + blocks_[last].bytes;
    };
    const auto first_final = pattern_.first_block[at_index(message.to)];
    const auto finals = pattern_.first_block[at_index(message.to) + 1] - first_final;
    std::uint32_t brought = 0, pieces = 0, final_blocks = 0, final_pieces = 0, last_final = 0;
    MemoryAddress piece_end = nowhere, final_end = nowhere;
    MemoryAddress end = next_ + 1;  // a gap, so that two areas are never taken for one piece
    Held taken;                     // from what the sender held for others
    const bool shares = !departures.carriers.empty();
    bool is_sent_again = false;
    const auto place_end = message.first_block + message.blocks;
    for (auto place = message.first_block; place < place_end; ++place) {
      const auto number = departures.order[place];
      auto& [address, bytes] = blocks_[number];
      const auto size = static_cast<MemoryAddress>(bytes);
      const bool was_held = address >= first_landing_;
      taken.blocks += was_held;
      taken.bytes += was_held ? bytes : 0;
      if (shares && departures.carriers[place] != place) {
        address = blocks_[departures.order[departures.carriers[place]]].address;  // it has landed before
      } else {
        if (repeats_) is_sent_again |= !sent_.insert(address).second;
        pieces += address != piece_end;
        piece_end = address + size;
        address = end;
        end += size;
        ++brought;
      }
      if (number - first_final >= finals) continue;
      final_pieces += final_blocks == 0 || address != final_end || !is_next_in_buffer(number, last_final);
      last_final = number;
      final_end = address + size;
      ++final_blocks;
      message.unpacked_bytes += bytes;
    }
    message.bytes = static_cast<Bytes>(end - next_ - 1);
    next_ = end;
    auto &sender = held_[at_index(message.from)], &receiver = held_[at_index(message.to)];
    sender = {sender.blocks - taken.blocks, sender.bytes - taken.bytes};
    receiver = {receiver.blocks + message.blocks - final_blocks,
                receiver.bytes + message.bytes - message.unpacked_bytes};
    message.packed_pieces = pieces > 1 ? pieces & most_pieces : 0;
    const bool in_place = final_blocks == message.blocks && brought == message.blocks && final_pieces == 1;
    message.unpacked_pieces = in_place ? 0 : final_pieces & most_pieces;
    if (in_place) message.unpacked_bytes = 0;
    message.is_sent_again = is_sent_again;
    message.is_all_from_sender = taken.blocks == 0;
    message.is_all_for_receiver = final_blocks == message.blocks && brought == message.blocks;
  }

  struct Placed {
    MemoryAddress address;
    Bytes bytes;
  };
  const PreparedPattern& pattern_;
  const bool repeats_ = !pattern_.first_alike.empty();  // may bytes leave a rank several times?
  std::unordered_set<MemoryAddress> sent_;              // if they may: places from which bytes have left
  std::vector<Placed> blocks_;
  std::vector<Held> held_;           // by rank
  MemoryAddress first_landing_ = 0;  // addresses below are in send buffers
  MemoryAddress next_ = 0;           // behind all that is in use
};

/// As Addresses::most_held, where blocks may share their bytes: those that lie in one place count once.
Held most_held_in_places(std::span<const Block> blocks, std::span<const Rank> at, const Addresses& addresses,
                         int ranks) {
  std::vector<Held> held(at_index(ranks));
  std::unordered_set<MemoryAddress> places;
  Held most;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (at[b] == blocks[b].source || at[b] == blocks[b].destination) continue;
    auto& own = held[at_index(at[b])];
    ++own.blocks;
    if (blocks[b].payload == no_payload || places.insert(addresses[b]).second) own.bytes += blocks[b].bytes;
    most = {std::max(most.blocks, own.blocks), std::max(most.bytes, own.bytes)};
  }
  return most;
}

/// @param pattern  whose blocks the route has cut, if it does
Schedule schedule_of(const Route& route, Window window, const PreparedPattern& pattern, Coalescing coalescing) {
  Schedule schedule;
  schedule.ranks = pattern.ranks;
  schedule.self_bytes = pattern.self_bytes;
  schedule.send_bytes = pattern.send_bytes;
  schedule.receive_bytes = pattern.receive_bytes;

  const auto& blocks = pattern.blocks;
  std::vector<Rank> at(blocks.size()), to(blocks.size());
  std::ranges::transform(blocks, at.begin(), &Block::source);
  Addresses addresses(pattern);
  Grouper grouper(pattern.ranks);
  Departures departures;
  const auto& stages = route.stages();
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    auto info = stages[static_cast<std::size_t>(s)];
    if (!route.next_of_ends(pattern.ends, at, s, to)) route.next_of_each(blocks, at, s, to);
    grouper.group(route, s, window, at, to, departures);
    find_carriers(departures, pattern.first_alike);
    if (is_staggered(info, coalescing)) {
      const auto most = most_blocks(departures.messages);
      stagger(route, departures, window, blocks, most);
      info.rounds = most > 0 ? staggered_round(info.rounds, most - 1, most) : 0;
    }
    addresses.move(departures);
    put_large_first(route, window_of(info, window), departures.messages);
    schedule.stages.push_back({std::move(info), std::exchange(departures.messages, {})});
    at.swap(to);
    const auto held =
        pattern.first_alike.empty() ? addresses.most_held() : most_held_in_places(blocks, at, addresses, pattern.ranks);
    schedule.buffered_blocks_max = std::max(schedule.buffered_blocks_max, held.blocks);
    schedule.buffered_bytes_max = std::max(schedule.buffered_bytes_max, held.bytes);
  }
  return schedule;
}

}  // namespace

Schedule make_schedule(const Route& route, Window window, const PreparedPattern& pattern, Coalescing coalescing) {
  return route.cuts() ? schedule_of(route, window, cut(route, pattern), coalescing)
                      : schedule_of(route, window, pattern, coalescing);
}

Schedule make_schedule(const Route& route, Window window, const Pattern& pattern, Coalescing coalescing) {
  return make_schedule(route, window, prepare(pattern), coalescing);
}

void set_window(const Route& route, Schedule& schedule, Window window) {
  for (auto& stage : schedule.stages) {
    const auto own = window_of(stage.info, window);
    for (auto& message : stage.messages) message.batch = own.batch(message.round);
    sort_those_of_each_sender(stage.messages, [&](const Message& m) {
      return std::tuple(size_turn(route, own, m), turn(route, own, m.from, m.to), m.round, m.to, m.first_block);
    });
  }
}

}  // namespace commpass
