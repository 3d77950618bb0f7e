#include "runtime/plan/planner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/schedule/duplicates.hpp"

namespace commpass {

bool PlannedMessage::may_stay_in_pieces() const {
  Bytes end = 0;
  for (const auto& [offset, its_place, size] : pieces) {
    const bool is_users = its_place.buffer == Place::Buffer::send || its_place.buffer == Place::Buffer::receive;
    if (!is_users || offset != end) return false;
    end += size;
  }
  return !pieces.empty() && end == bytes && !is_forwarded;
}

std::vector<Payload> payloads_of(std::span<const SendEdge> sends) {
  std::vector<std::size_t> order(sends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) { return std::pair(sends[i].offset, sends[i].bytes); };
  std::ranges::sort(order, {}, place);
  std::vector<Payload> payloads(sends.size(), no_payload);
  Payload last = no_payload;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (sends[order[i]].bytes == 0 || place(order[i]) != place(order[i - 1])) continue;
    auto& first = payloads[order[i - 1]];
    if (first == no_payload) first = ++last;
    payloads[order[i]] = first;
  }
  return payloads;
}

namespace {

/// The blocks of a received message that carry the bytes of others.
struct Carried {
  std::vector<std::uint32_t> first_alike;  ///< of the blocks, see duplicates.hpp
  Bytes bytes = 0;                         ///< of the message

  explicit Carried(std::span<const Block> blocks) : first_alike(commpass::first_alike(blocks)) {
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (carrier(i) == i) bytes += blocks[i].bytes;
  }
  /// The number of the block that carries the bytes of block i.
  std::size_t carrier(std::size_t i) const { return first_alike.empty() ? i : first_alike[i]; }
};

}  // namespace

Planner::Planner(const RouteOfRank& own, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives)
    : Planner(own, sends, receives, payloads_of(sends)) {}

Planner::Planner(const RouteOfRank& own, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives,
                 std::span<const Payload> payloads)
    : rank_(own.rank), ranks_(own.ranks) {
  check(sends, receives);
  std::map<Rank, std::int32_t> count;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const auto& [destination, offset, bytes] = sends[i];
    if (bytes > 0)
      held_.push_back({{.source = rank_,
                        .destination = destination,
                        .index = count[destination]++,
                        .bytes = bytes,
                        .payload = payloads[i]},
                       offset});
  }
  count.clear();
  for (const auto& edge : receives)
    if (edge.bytes > 0) expected_[{edge.source, count[edge.source]++}] = {edge, edge.bytes};
  copy_self();
  if (own.route.cuts()) cut_held(own.route);
}

InputError Planner::mismatch(const std::string& what) const {
  return {fmt::format("exchange, rank {}", rank_), what, "make the edges of both ranks match"};
}

Plan Planner::finish(std::span<const Held> left) {
  if (!left.empty()) {
    const auto& block = left.front().block;
    throw Error(
        fmt::format("a block from rank {} to rank {} is left on rank {}.", block.source, block.destination, rank_));
  }
  if (!expected_.empty()) {
    const auto& [edge, missing] = expected_.begin()->second;
    const auto sent = missing == edge.bytes ? "no such block" : std::to_string(edge.bytes - missing);
    throw mismatch(fmt::format("it expects {} bytes from rank {}, which sends {}", edge.bytes, edge.source, sent));
  }
  plan_.transit_bytes = arena_.capacity();
  return std::move(plan_);
}

Place Planner::place_of(std::int64_t where) {
  if (where < transit_base) return {Place::Buffer::send, where};
  return {Place::Buffer::transit, where - transit_base};
}

/// Removes a block from `where`.
void Planner::release(std::int64_t where, Bytes bytes) {
  if (where < transit_base) return;
  if (const auto others = sharers_.find(where - transit_base); others == sharers_.end())
    arena_.release(where - transit_base, bytes);
  else if (--others->second == 0) sharers_.erase(others);
}

void Planner::check(std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives) const {
  const auto check_edge = [&](const char* what, Rank peer, Bytes offset, Bytes bytes, std::size_t index) {
    const auto refuse = [&](const std::string& problem, const std::string& remedy) {
      throw InputError(fmt::format("exchange, {} edge {} of rank {}", what, index, rank_), problem, remedy);
    };
    if (peer < 0 || peer >= ranks_)
      refuse(fmt::format("rank {} is out of range", peer), fmt::format("use 0 to {}", ranks_ - 1));
    if (bytes < 0) refuse(fmt::format("it has {} bytes", bytes), "use 0 or more");
    if (offset < 0 || offset > transit_base - bytes - 1)
      refuse(fmt::format("offset {} is out of range", offset), "use offsets inside the buffer");
  };
  for (std::size_t i = 0; i < sends.size(); ++i)
    check_edge("send", sends[i].destination, sends[i].offset, sends[i].bytes, i);
  for (std::size_t i = 0; i < receives.size(); ++i)
    check_edge("receive", receives[i].source, receives[i].offset, receives[i].bytes, i);
}

void Planner::copy_self() {
  std::erase_if(held_, [&](const Held& held) {
    if (held.block.destination != rank_) return false;
    plan_.self.push_back({place_of(held.where), {Place::Buffer::receive, take_expected(held.block)}, held.block.bytes});
    return true;
  });
}

void Planner::cut_held(const Route& route) {
  const HeldBlocks whole(std::exchange(held_, {}));
  auto fragments = whole.blocks;
  route.cut(fragments);
  std::size_t next = 0;  // of the whole blocks; each has a first fragment
  for (const auto& fragment : fragments) {
    if (fragment.offset == 0) ++next;
    held_.push_back({fragment, whole.where[next - 1] + fragment.offset});
  }
}

/// The place in the receive buffer of a block or fragment that has arrived.
Bytes Planner::take_expected(const Block& block) {
  const auto entry = expected_.find({block.source, block.index});
  if (entry == expected_.end())
    throw mismatch(fmt::format("rank {} sends it {} bytes that it does not expect", block.source, block.bytes));
  auto& [edge, missing] = entry->second;
  if (block.offset + block.bytes > edge.bytes)
    throw mismatch(fmt::format("it expects {} bytes from rank {}, which sends at least {}", edge.bytes, block.source,
                               block.offset + block.bytes));
  const Bytes place = edge.offset + block.offset;
  missing -= block.bytes;
  if (missing == 0) expected_.erase(entry);
  return place;
}

void Planner::begin_batch(int stage) {
  plan_.batches.emplace_back().stage = stage;
  packed_ = 0;
}

void Planner::send(const Message& message, const Departures& departures, const HeldBlocks& here) {
  auto& batch = plan_.batches.back();
  const auto numbers = std::span(departures.order).subspan(message.first_block, message.blocks);
  std::vector<std::uint32_t> carriers;  // one of the blocks with the same bytes
  for (std::uint32_t i = 0; i < message.blocks; ++i)
    if (const auto place = message.first_block + i; departures.carrier(place) == place) carriers.push_back(numbers[i]);
  if (count_pieces(carriers, here.blocks, here.where) == 1) {
    batch.sends.push_back({message.to, place_of(here.where[carriers.front()]), message.bytes});
    for (const auto number : numbers) free_after_.emplace_back(here.where[number], here.blocks[number].bytes);
    return;
  }
  auto& pieces =
      batch.sends.emplace_back(PlannedMessage{message.to, {Place::Buffer::packing, packed_}, message.bytes}).pieces;
  std::int64_t end = -1;
  Bytes offset = 0;
  for (const auto number : carriers) {
    const auto bytes = here.blocks[number].bytes;
    if (here.where[number] == end) pieces.back().bytes += bytes;
    else pieces.push_back({offset, place_of(here.where[number]), bytes});
    end = here.where[number] + bytes;
    offset += bytes;
  }
  packed_ += message.bytes;
  plan_.packing_bytes = std::max(plan_.packing_bytes, packed_);
  for (const auto number : numbers)
    release(here.where[number], here.blocks[number].bytes);  // packing comes before the receives of the batch
}

void Planner::receive(const Incoming& message, std::vector<Held>& arrived) {
  auto& batch = plan_.batches.back();
  const Carried carried(message.blocks);
  // Offsets in the receive buffer of blocks for this rank, in the order of the message.
  std::vector<Bytes> target(message.blocks.size(), -1);
  bool in_place = true;
  for (std::size_t i = 0; i < message.blocks.size(); ++i) {
    const auto& block = message.blocks[i];
    if (block.destination == rank_) target[i] = take_expected(block);
    in_place = in_place && target[i] >= 0 && carried.carrier(i) == i &&
               (i == 0 || target[i] == target[i - 1] + message.blocks[i - 1].bytes);
  }
  if (in_place) {
    batch.receives.push_back({message.from, {Place::Buffer::receive, target[0]}, carried.bytes});
    return;
  }
  const Bytes landing = arena_.allocate(carried.bytes);
  auto& planned =
      batch.receives.emplace_back(PlannedMessage{message.from, {Place::Buffer::transit, landing}, carried.bytes});
  auto& pieces = planned.pieces;
  std::vector<Bytes> offset(message.blocks.size());
  Bytes end = landing;
  Bytes offset_end = -1, target_end = -1;  // of the copy that is being built
  for (std::size_t i = 0; i < message.blocks.size(); ++i) {
    const auto& block = message.blocks[i];
    if (const auto carrier = carried.carrier(i); carrier != i) {
      offset[i] = offset[carrier];
      ++sharers_[offset[i]];
    } else {
      offset[i] = end;
      end += block.bytes;
    }
    if (target[i] < 0) {
      arrived.push_back({block, transit_base + offset[i]});
      planned.is_forwarded = true;
      continue;
    }
    if (offset[i] == offset_end && target[i] == target_end) pieces.back().bytes += block.bytes;
    else pieces.push_back({offset[i] - landing, {Place::Buffer::receive, target[i]}, block.bytes});
    offset_end = offset[i] + block.bytes;
    target_end = target[i] + block.bytes;
    free_after_.emplace_back(transit_base + offset[i], block.bytes);
  }
}

// Places of sent and scattered blocks are free from the next batch on.
void Planner::end_batch() {
  for (const auto& [where, bytes] : free_after_) release(where, bytes);
  free_after_.clear();
}

Plan plan_alone(const RouteOfRank& own, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives,
                const HeaderSource& source) {
  return plan_alone(own, Planner(own, sends, receives), source);
}

Plan plan_alone(const RouteOfRank& own, Planner planner, const HeaderSource& source) {
  Failure failure;
  const auto left = walk_stages(own, planner.take_held(), source, planner, failure);
  if (failure) throw Error(failure.sentence);
  return planner.finish(left);
}

}  // namespace commpass
