#include "runtime/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "model/error.hpp"
#include "model/schedule/duplicates.hpp"
#include "model/schedule/schedule.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/arena.hpp"
#include "runtime/plan/payloads.hpp"
#include "runtime/plan/stage_messages.hpp"

namespace commpass {

namespace {

/// A message that comes, and which of its blocks bring the bytes of others.
struct Arriving : Incoming {
  Bytes bytes = 0;
  std::vector<std::uint32_t> first_alike;  ///< of the blocks, see duplicates.hpp

  /// The number of the block that brings the bytes of block i.
  std::size_t carrier(std::size_t i) const { return first_alike.empty() ? i : first_alike[i]; }
};

std::vector<Arriving> with_carriers(const std::vector<Incoming>& incoming) {
  std::vector<Arriving> result;
  for (const auto& message : incoming) {
    auto& arriving = result.emplace_back(Arriving{message, 0, first_alike(message.blocks)});
    for (std::size_t i = 0; i < message.blocks.size(); ++i)
      if (arriving.carrier(i) == i) arriving.bytes += message.blocks[i].bytes;
  }
  return result;
}

/// Builds the plan of one rank, stage by stage.
class Planner {
 public:
  Planner(Rank rank, int ranks, const Route& route, std::span<const SendEdge> sends,
          std::span<const ReceiveEdge> receives)
      : rank_(rank), ranks_(ranks) {
    check(sends, receives);
    std::map<Rank, std::int32_t> count;
    const auto payloads = payloads_of(sends);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const auto& [destination, offset, bytes] = sends[i];
      if (bytes > 0)
        held_.push_back({{.source = rank,
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
    sort_held();
    cut_held(route);
  }

  /// The blocks that are here and have to leave.
  std::span<const Block> begin_stage() {
    blocks_.clear();
    where_.clear();
    for (const auto& [block, where] : held_) {
      blocks_.push_back(block);
      where_.push_back(where);
    }
    return blocks_;
  }

  /// Plans a stage, now that it is known what comes.
  void plan_stage(int stage, const StageMessages& messages) {
    const auto& departures = messages.departures;
    const auto incoming = with_carriers(messages.incoming);
    std::set<int> batches;
    for (const auto& message : incoming) batches.insert(message.batch);
    for (const auto& message : departures.messages) batches.insert(message.batch);

    std::vector<bool> gone(held_.size(), false);
    std::vector<Held> arrived;
    for (const int batch : batches) {
      auto& planned = plan_.batches.emplace_back();
      planned.stage = stage;
      std::vector<std::uint32_t> sent_in_place;
      Bytes packed = 0;
      for (const auto& message : departures.messages) {
        if (message.batch != batch) continue;
        plan_send(planned, message, departures, packed, sent_in_place);
        for (const auto number : std::span(departures.order).subspan(message.first_block, message.blocks))
          gone[number] = true;
      }
      plan_.packing_bytes = std::max(plan_.packing_bytes, packed);
      for (const auto& message : incoming)
        if (message.batch == batch) plan_receive(planned, message, arrived);
      // What was sent from where it lay, and what has been copied out, is free from the next batch on.
      for (const auto number : sent_in_place) release(where_[number], blocks_[number].bytes);
      for (const auto& [where, bytes] : landed_finals_) release(where, bytes);
      landed_finals_.clear();
    }
    std::vector<Held> kept;
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (!gone[i]) kept.push_back(held_[i]);
    kept.insert(kept.end(), arrived.begin(), arrived.end());
    held_ = std::move(kept);
    sort_held();
  }

  Plan finish() {
    if (!held_.empty()) {
      const auto& block = held_.front().block;
      throw Error(
          fmt::format("a block from rank {} to rank {} is left on rank {}.", block.source, block.destination, rank_));
    }
    if (!expected_.empty()) {
      const auto& [edge, missing] = expected_.begin()->second;
      const auto sent = missing == edge.bytes ? "no such block" : std::to_string(edge.bytes - missing);
      throw InputError(fmt::format("exchange, rank {}", rank_),
                       fmt::format("it expects {} bytes from rank {}, which sends {}", edge.bytes, edge.source, sent),
                       "make the edges of both ranks match");
    }
    plan_.transit_bytes = arena_.capacity();
    return std::move(plan_);
  }

 private:
  /// A block that is here and has to leave. `where` is an offset in the send buffer, or transit_base and more.
  struct Held {
    Block block;
    std::int64_t where = 0;
  };
  /// A receive edge of which `missing` bytes have not been planned yet.
  struct Expected {
    ReceiveEdge edge;
    Bytes missing = 0;
  };
  // Above every offset of a send buffer, so that one number is enough, and contiguity is a matter of numbers.
  static constexpr std::int64_t transit_base = std::int64_t{1} << 62;

  static Place place_of(std::int64_t where) {
    if (where < transit_base) return {Place::Buffer::send, where};
    return {Place::Buffer::transit, where - transit_base};
  }
  /// One block less lies at `where`.
  void release(std::int64_t where, Bytes bytes) {
    if (where < transit_base) return;
    if (const auto others = sharers_.find(where - transit_base); others == sharers_.end())
      arena_.release(where - transit_base, bytes);
    else if (--others->second == 0) sharers_.erase(others);
  }

  void check(std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives) const {
    const auto check_edge = [&](const char* what, Rank peer, Bytes offset, Bytes bytes, std::size_t index) {
      const auto place = fmt::format("exchange, {} edge {} of rank {}", what, index, rank_);
      if (peer < 0 || peer >= ranks_)
        throw InputError(place, fmt::format("rank {} is out of range", peer), fmt::format("use 0 to {}", ranks_ - 1));
      if (bytes < 0) throw InputError(place, fmt::format("it has {} bytes", bytes), "use 0 or more");
      if (offset < 0 || offset > transit_base - bytes - 1)
        throw InputError(place, fmt::format("offset {} is out of range", offset), "use offsets inside the buffer");
    };
    for (std::size_t i = 0; i < sends.size(); ++i)
      check_edge("send", sends[i].destination, sends[i].offset, sends[i].bytes, i);
    for (std::size_t i = 0; i < receives.size(); ++i)
      check_edge("receive", receives[i].source, receives[i].offset, receives[i].bytes, i);
  }

  void copy_self() {
    std::erase_if(held_, [&](const Held& held) {
      if (held.block.destination != rank_) return false;
      plan_.self.push_back(
          {place_of(held.where), {Place::Buffer::receive, take_expected(held.block)}, held.block.bytes});
      return true;
    });
  }

  void cut_held(const Route& route) {
    blocks_.clear();
    for (const auto& held : held_) blocks_.push_back(held.block);
    route.cut(blocks_);
    const auto whole = std::move(held_);
    held_.clear();
    std::size_t next = 0;  // of the whole blocks; each has a first fragment
    for (const auto& fragment : blocks_) {
      if (fragment.offset == 0) ++next;
      held_.push_back({fragment, whole[next - 1].where + fragment.offset});
    }
  }

  /// The place in the receive buffer of a block or fragment that has arrived.
  Bytes take_expected(const Block& block) {
    const auto entry = expected_.find({block.source, block.index});
    const auto where = fmt::format("exchange, rank {}", rank_);
    if (entry == expected_.end())
      throw InputError(where,
                       fmt::format("rank {} sends it {} bytes that it does not expect", block.source, block.bytes),
                       "make the edges of both ranks match");
    auto& [edge, missing] = entry->second;
    if (block.offset + block.bytes > edge.bytes)
      throw InputError(where,
                       fmt::format("it expects {} bytes from rank {}, which sends at least {}", edge.bytes,
                                   block.source, block.offset + block.bytes),
                       "make the edges of both ranks match");
    const Bytes place = edge.offset + block.offset;
    missing -= block.bytes;
    if (missing == 0) expected_.erase(entry);
    return place;
  }

  void plan_send(PlannedBatch& batch, const Message& message, const Departures& departures, Bytes& packed,
                 std::vector<std::uint32_t>& sent_in_place) {
    const auto numbers = std::span(departures.order).subspan(message.first_block, message.blocks);
    std::vector<std::uint32_t> brought;  // of those with the same bytes, one
    for (std::uint32_t i = 0; i < message.blocks; ++i)
      if (const auto place = message.first_block + i; departures.carrier(place) == place) brought.push_back(numbers[i]);
    if (count_pieces(brought, blocks_, where_) == 1) {
      batch.sends.push_back({message.to, place_of(where_[brought.front()]), message.bytes});
      sent_in_place.insert(sent_in_place.end(), numbers.begin(), numbers.end());
      return;
    }
    batch.sends.push_back({message.to, {Place::Buffer::packing, packed}, message.bytes});
    std::int64_t end = -1;
    for (const auto number : brought) {
      const auto bytes = blocks_[number].bytes;
      if (where_[number] == end) batch.pack.back().bytes += bytes;
      else batch.pack.push_back({place_of(where_[number]), {Place::Buffer::packing, packed}, bytes});
      end = where_[number] + bytes;
      packed += bytes;
    }
    for (const auto number : numbers)
      release(where_[number], blocks_[number].bytes);  // packing comes before the receives of the batch
  }

  void plan_receive(PlannedBatch& batch, const Arriving& message, std::vector<Held>& arrived) {
    // Where the blocks that end here belong, in the order of the message.
    std::vector<Bytes> target(message.blocks.size(), -1);
    bool in_place = true;
    for (std::size_t i = 0; i < message.blocks.size(); ++i) {
      const auto& block = message.blocks[i];
      if (block.destination == rank_) target[i] = take_expected(block);
      in_place = in_place && target[i] >= 0 && message.carrier(i) == i &&
                 (i == 0 || target[i] == target[i - 1] + message.blocks[i - 1].bytes);
    }
    if (in_place) {
      batch.receives.push_back({message.from, {Place::Buffer::receive, target[0]}, message.bytes});
      return;
    }
    const Bytes landing = arena_.allocate(message.bytes);
    batch.receives.push_back({message.from, {Place::Buffer::transit, landing}, message.bytes});
    std::vector<Bytes> offset(message.blocks.size());
    Bytes end = landing;
    Bytes offset_end = -1, target_end = -1;  // of the copy that is being built
    for (std::size_t i = 0; i < message.blocks.size(); ++i) {
      const auto& block = message.blocks[i];
      if (const auto carrier = message.carrier(i); carrier != i) {
        offset[i] = offset[carrier];
        ++sharers_[offset[i]];
      } else {
        offset[i] = end;
        end += block.bytes;
      }
      if (target[i] < 0) {
        arrived.push_back({block, transit_base + offset[i]});
        continue;
      }
      if (offset[i] == offset_end && target[i] == target_end) batch.unpack.back().bytes += block.bytes;
      else
        batch.unpack.push_back({{Place::Buffer::transit, offset[i]}, {Place::Buffer::receive, target[i]}, block.bytes});
      offset_end = offset[i] + block.bytes;
      target_end = target[i] + block.bytes;
      landed_finals_.emplace_back(transit_base + offset[i], block.bytes);
    }
  }

  void sort_held() {
    std::ranges::sort(held_, {}, [](const Held& h) {
      return std::tuple(h.block.destination, h.block.source, h.block.index, h.block.offset);
    });
  }

  Rank rank_;
  int ranks_;
  std::vector<Held> held_;
  std::map<std::pair<Rank, std::int32_t>, Expected> expected_;  // by source and index
  std::vector<Block> blocks_;                                   // of the stage being planned, and
  std::vector<std::int64_t> where_;                             // where they are
  std::vector<std::pair<std::int64_t, Bytes>> landed_finals_;   // where blocks lie that are copied out in this batch
  std::map<Bytes, int> sharers_;                                // how many blocks a place in transit has besides one
  Arena arena_;
  Plan plan_;
};

}  // namespace

Plan make_plan(MPI_Comm comm, const Route& route, Window window, std::span<const SendEdge> sends,
               std::span<const ReceiveEdge> receives, Coalescing coalescing) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  std::optional<Planner> planner;
  together(comm, [&] { planner.emplace(rank, ranks, route, sends, receives); });
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
    std::span<const Block> held;
    together(comm, [&] { held = planner->begin_stage(); });
    const auto messages = exchange_headers(comm, route, stage, window, coalescing, held);
    together(comm, [&] { planner->plan_stage(stage, messages); });
  }
  Plan plan;
  together(comm, [&] { plan = planner->finish(); });
  return plan;
}

}  // namespace commpass
