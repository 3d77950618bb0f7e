#include "model/route/address_route.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace commpass {

namespace {

/// The digits for which `is_in` holds, as few ranges as there are.
std::vector<DigitRange> ranges_of(std::span<const Digit> digits, const std::vector<bool>& is_in) {
  std::vector<DigitRange> ranges;
  int weight = 1;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    const int low = std::exchange(weight, weight * digits[d].radix);
    if (!is_in[d]) continue;
    if (!ranges.empty() && ranges.back().high == low) ranges.back().high = weight;
    else ranges.push_back({low, weight});
  }
  return ranges;
}

}  // namespace

AddressRoute::AddressRoute(Address address, std::span<const std::size_t> order)
    : address_(std::move(address)), is_plain_(address_.is_plain()) {
  const auto& digits = address_.digits;
  std::vector<bool> is_decided(digits.size(), false);
  for (const std::size_t d : order) {
    auto& step = steps_.emplace_back();
    for (std::size_t lower = 0; lower < d; ++lower) step.weight *= digits[lower].radix;
    step.radix = digits[d].radix;
    auto is_undecided = is_decided;
    is_undecided.flip();
    step.undecided = ranges_of(digits, is_undecided);
    is_decided[d] = true;
    step.decided = ranges_of(digits, is_decided);
    stages_.push_back({digits[d].label, digits[d].radix - 1});
  }
  count_blocks(order);
}

Rank AddressRoute::next(const Block& block, Rank holder, int stage) const {
  if (holder == block.destination) return holder;
  const auto& decided = steps_[at(stage)].decided;
  const int source = address_.of_rank(block.source);
  return address_.rank_at(part_of(address_.of_rank(block.destination), decided) + source - part_of(source, decided));
}

// Of more blocks than ranks: results for a rank are kept during this loop. Where each rank is a virtual
// rank of its own, blocks that are at their destination need no question: all their digits are.
bool AddressRoute::next_of_ends(std::span<const BlockEnds> ends, std::span<const Rank> holders, int stage,
                                std::span<Rank> to) const {
  const auto ranks = at(address_.ranks());
  if (ends.size() < ranks) return false;
  std::vector<int> of_destination(ranks), of_source(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int own = address_.of_rank(static_cast<Rank>(rank));
    of_destination[rank] = part_of(own, steps_[at(stage)].decided);
    of_source[rank] = own - of_destination[rank];
  }
  const auto virtual_rank = [&](const BlockEnds& own) {
    return of_destination[at(own.destination)] + of_source[at(own.source)];
  };
  if (is_plain_) {
    for (std::size_t i = 0; i < ends.size(); ++i) to[i] = virtual_rank(ends[i]);
    return true;
  }
  std::vector<Rank> rank_at(at(address_.virtual_ranks()));
  for (std::size_t v = 0; v < rank_at.size(); ++v) rank_at[v] = address_.rank_at(static_cast<int>(v));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Rank rank = rank_at[at(virtual_rank(ends[i]))];
    to[i] = holders[i] == ends[i].destination ? holders[i] : rank;
  }
  return true;
}

void AddressRoute::way(Rank source, Rank destination, std::span<Rank> after) const {
  const auto stages = steps_.size();
  if (stages == 0) return;
  const auto& decided = decided_.get([&] {
    std::vector<int> parts;
    parts.reserve(at(address_.ranks()) * stages);
    for (Rank rank = 0; rank < address_.ranks(); ++rank)
      for (const auto& step : steps_) parts.push_back(part_of(address_.of_rank(rank), step.decided));
    return parts;
  });
  const auto* from = &decided[at(source) * stages];
  const auto* to = &decided[at(destination) * stages];
  const int own = from[stages - 1];  // all digits are decided
  bool is_there = source == destination;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    after[stage] = is_there ? destination : address_.rank_at(to[stage] + own - from[stage]);
    is_there = after[stage] == destination;
  }
}

int AddressRoute::round(Rank from, Rank to, int stage) const {
  const auto& step = steps_[at(stage)];
  const int distance = digit(address_.of_rank(to), step) - digit(address_.of_rank(from), step);
  return distance < 0 ? distance + step.radix : distance;
}

template <class Action>
void AddressRoute::for_each_in_line(int virtual_rank, const Step& step, Action action) const {
  const int first = virtual_rank - digit(virtual_rank, step) * step.weight;
  for (int value = 0; value < step.radix; ++value) action(address_.rank_at(first + value * step.weight));
}

// A block moves from one rank to another that stand for two virtual ranks of a line, which differ in a digit, or stays.
std::vector<Rank> AddressRoute::peers(Rank rank, int stage) const {
  std::vector<Rank> result;
  for (const int v : address_.virtual_ranks_of(rank))
    for_each_in_line(v, steps_[at(stage)], [&](Rank peer) { result.push_back(peer); });
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  std::erase(result, rank);
  return result;
}

// Lines that share a rank are of one group: of a full address a line is one of its own.
std::vector<Rank> AddressRoute::group(Rank rank, int stage) const {
  const auto& step = steps_[at(stage)];
  std::vector<Rank> members{rank};
  std::unordered_set<int> known{rank}, lines;
  const auto add = [&](Rank member) {
    if (known.insert(member).second) members.push_back(member);
  };
  const std::size_t unlimited = at(address_.ranks());
  for (std::size_t i = 0; i < std::min(members.size(), address_.is_full() ? 1 : unlimited); ++i)
    for (const int v : address_.virtual_ranks_of(members[i]))
      if (lines.insert(v - digit(v, step) * step.weight).second) for_each_in_line(v, step, add);
  std::ranges::sort(members);
  return members;
}

// What the messages of a full all-to-all hold and how many copies they need, from the digits alone. A set of ranks in
// which some digits are fixed and the others free is made of as many intervals as there are values of the free digits
// above the lowest fixed one.
void AddressRoute::count_blocks(std::span<const std::size_t> order) {
  const auto& digits = address_.digits;
  const auto count = digits.size();
  const auto intervals = [&](const std::vector<bool>& is_free) {
    std::int64_t result = 1;
    bool below_is_fixed = false;
    for (std::size_t d = 0; d < count; ++d) {
      if (!is_free[d]) below_is_fixed = true;
      else if (below_is_fixed) result *= digits[d].radix;
    }
    return result;
  };

  std::vector<bool> destination_free(count, true), source_free(count, false);
  std::int64_t origins = 1;  // places where blocks of one destination sit
  std::int64_t destinations = std::int64_t{address_.virtual_ranks()}, sources = 1;
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    const std::size_t d = order[stage];
    auto& step = steps_[stage];
    destination_free[d] = false;
    destinations /= digits[d].radix;
    step.blocks = sources * destinations;
    step.pieces_sent = stage == 0 ? intervals(destination_free) : destinations * origins;
    step.final_blocks = sources;
    // The last message of all holds nothing but final blocks and lands where it belongs if its sources are adjacent.
    const auto source_intervals = intervals(source_free);
    step.final_pieces = destinations == 1 && source_intervals == 1 ? 0 : source_intervals;
    origins += digits[d].radix - 1;
    source_free[d] = true;
    sources *= digits[d].radix;
  }
}

// Where the lowest digit has two values, what rank r sends to or gets from the others includes r−1 and r+1, which are
// adjacent in its buffers: r sends itself nothing.
bool AddressRoute::neighbours_touch(Rank rank, int stage) const {
  const auto& step = steps_[at(stage)];
  return step.weight == 1 && step.radix == 2 && address_.of_rank(rank) == rank && rank > 0 &&
         rank + 1 < address_.ranks();
}

void AddressRoute::join_neighbours(UniformMessage& message, Rank from, int stage) const {
  if (stage == 0 && message.pieces > 1 && neighbours_touch(from, stage)) --message.pieces;
  const bool last = at(stage) + 1 == steps_.size();
  if (!last || message.final_pieces < 2 || !neighbours_touch(message.to, stage)) return;
  if (--message.final_pieces == 1) message.final_pieces = message.final_blocks = 0;  // lands where it belongs
}

std::vector<AddressRoute::Alike> AddressRoute::find_alike() const {
  std::vector<Alike> result;
  for (const auto& step : steps_) {
    auto& alike = result.emplace_back();
    alike.undecided.resize(at(address_.virtual_ranks()));
    alike.decided.resize(at(address_.virtual_ranks()));
    for (Rank rank = 0; rank < address_.ranks(); ++rank) {
      const int own = address_.of_rank(rank);
      ++alike.undecided[at(part_of(own, step.undecided))];
      ++alike.decided[at(part_of(own, step.decided))];
    }
  }
  return result;
}

int AddressRoute::count_undecided(int virtual_rank, int stage) const {
  const auto& same = steps_[at(stage)].undecided;
  if (same.size() == 1)
    if (const auto count = address_.count_alike(virtual_rank, same.front())) return *count;
  return alike_.get([&] { return find_alike(); })[at(stage)].undecided[at(part_of(virtual_rank, same))];
}

int AddressRoute::count_decided(int virtual_rank, int stage) const {
  const auto& same = steps_[at(stage)].decided;
  if (same.size() == 1)
    if (const auto count = address_.count_alike(virtual_rank, same.front())) return *count;
  return alike_.get([&] { return find_alike(); })[at(stage)].decided[at(part_of(virtual_rank, same))];
}

std::vector<UniformMessage> AddressRoute::messages_of_virtual_ranks(Rank rank, int stage) const {
  const auto& step = steps_[at(stage)];
  const auto own = address_.virtual_ranks_of(rank);
  std::vector<UniformMessage> messages;
  std::unordered_map<Rank, std::size_t> place;  // of the message to a rank, if several may go there
  for (const int v : own) {
    const int before = digit(v, step);
    const std::int64_t sources = count_undecided(v, stage);
    messages.reserve(messages.size() + at(step.radix));
    for (int round = 1; round < step.radix; ++round) {
      const int after = before + round < step.radix ? before + round : before + round - step.radix;
      const int changed = v + (after - before) * step.weight;
      const auto blocks = sources * count_decided(changed, stage);
      const auto to = address_.rank_at(changed);
      if (blocks == 0 || to == rank) continue;
      const bool is_new = own.size() == 1 || place.try_emplace(to, messages.size()).second;
      auto& message = is_new ? messages.emplace_back(UniformMessage{to, 0, 0, 0, 0}) : messages[place.at(to)];
      message.blocks += blocks;
      message.pieces += std::min(blocks, step.pieces_sent);
      if (step.final_pieces > 0) message.final_blocks += std::min(blocks, step.final_blocks);
      message.final_pieces += step.final_pieces;
    }
  }
  return messages;
}

std::vector<UniformRun> AddressRoute::uniform_runs(Rank rank, int stage) const {
  if (is_plain_) {
    // All alike; where the radix is 2, and so neighbours may touch, there is one.
    const auto& step = steps_[at(stage)];
    const Ring ring{rank - digit(rank, step) * step.weight, step.radix * step.weight, step.weight};
    UniformMessage message{ring.after(rank, 1), step.blocks, std::min(step.blocks, step.pieces_sent), 0,
                           step.final_pieces};
    if (step.final_pieces > 0) message.final_blocks = std::min(step.blocks, step.final_blocks);
    join_neighbours(message, rank, stage);
    return {{message, step.radix - 1, ring}};
  }
  std::vector<UniformRun> runs;
  for (auto& message : messages_of_virtual_ranks(rank, stage)) {
    join_neighbours(message, rank, stage);
    runs.push_back(message);
  }
  return runs;
}

}  // namespace commpass
