#include "runtime/alltoall/alltoall_structure.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/expected_headers.hpp"
#include "runtime/plan/sent_headers.hpp"
#include "runtime/plan/stage_walk.hpp"

namespace commpass {

namespace {

constexpr Bytes block_bytes = 1;  // any number but 0: sizes are not known yet

/// The sink of a walk that makes the structure of one rank.
class Builder {
 public:
  Builder(Rank rank, int ranks) : rank_(rank), next_number_(ranks) {
    for (Rank destination = 0; destination < ranks; ++destination)
      if (destination != rank)
        held_.push_back({{.source = rank, .destination = destination, .bytes = block_bytes}, destination});
  }

  /// The blocks that have to leave; `where` is the number of a block. Once.
  std::vector<Held> take_held() { return std::move(held_); }

  void begin_batch(int) {}
  void end_batch() { result_.batches.push_back({result_.receives.size(), result_.sends.size()}); }
  void end_stage() {
    result_.stages.push_back({result_.batches.size(), result_.receives.size(), result_.sends.size()});
  }

  void send(const Message& sent, const Departures& departures, const HeldBlocks& here) {
    auto& message = result_.sends.emplace_back(
        AlltoallStructure::Message{sent.to, result_.blocks.size(), sent.blocks, result_.announced.size(), 0});
    const auto in_order = std::span(departures.order).subspan(sent.first_block, sent.blocks);
    std::vector<std::uint32_t> positions(in_order.begin(), in_order.end());
    forwarded_first(positions, [&](std::uint32_t position) { return here.blocks[position].destination == sent.to; });
    for (const auto position : positions) {
      const auto& block = here.blocks[position];
      const auto number = static_cast<std::int32_t>(here.where[position]);
      result_.blocks.push_back(number);
      if (block.destination != sent.to) {
        result_.announced.push_back(number);
        ++message.announced;
      }
      if (block.source != rank_)
        free_slots_.insert(result_.slot_of[static_cast<std::size_t>(number - first_forwarded_)]);
    }
  }

  void receive(const Incoming& incoming, std::vector<Held>& arrived) {
    auto& message = result_.receives.emplace_back(AlltoallStructure::Message{
        incoming.from, result_.blocks.size(), incoming.blocks.size(), static_cast<std::size_t>(next_number_), 0});
    auto blocks = incoming.blocks;
    forwarded_first(blocks, [&](const Block& block) { return block.destination == rank_; });
    for (const auto& block : blocks) {
      if (block.destination == rank_) {
        result_.blocks.push_back(-1 - block.source);
        continue;
      }
      result_.blocks.push_back(next_number_);
      result_.slot_of.push_back(take_slot());
      arrived.push_back({block, next_number_++});
      ++message.announced;
    }
  }

  AlltoallStructure finish() { return std::move(result_); }

 private:
  // What is forwarded goes first in a message: its sizes are told, so that it can be taken apart even if what ends here
  // is not as it should be.
  static void forwarded_first(auto& items, auto ends) {
    std::stable_partition(items.begin(), items.end(), [&](const auto& item) { return !ends(item); });
  }

  std::int32_t take_slot() {
    if (free_slots_.empty()) return result_.slots++;
    const auto slot = *free_slots_.begin();
    free_slots_.erase(free_slots_.begin());
    return slot;
  }

  Rank rank_;
  std::int32_t next_number_;
  std::int32_t first_forwarded_ = next_number_;
  std::vector<Held> held_;
  std::set<std::int32_t> free_slots_;
  AlltoallStructure result_;
};

std::vector<ReceiveEdge> block_from_each(Rank rank, int ranks) {
  std::vector<ReceiveEdge> edges;
  for (Rank source = 0; source < ranks; ++source)
    if (source != rank) edges.push_back({.source = source, .bytes = block_bytes});
  return edges;
}

}  // namespace

AlltoallStructure make_alltoall_structure(MPI_Comm comm, const Route& route, Window window, Coalescing coalescing) {
  const RouteOfRank own{route, window, coalescing, rank_in(comm), ranks_in(comm)};
  const bool is_told = !edges_tell_all(route.stages().size(), coalescing);
  std::optional<Builder> builder;
  std::optional<SentHeaders> sent;
  const auto begin = [&] {
    builder.emplace(own.rank, own.ranks);
    if (is_told) sent.emplace(comm, coalescing);
  };
  Failure failure;
  if (is_told) {
    all_or_none(comm, begin);
    walk_stages(own, builder->take_held(), std::ref(*sent), *builder, failure);
  } else {
    attempt(failure, [&] {
      begin();
      const auto from_each = block_from_each(own.rank, own.ranks);
      walk_stages(own, builder->take_held(), ExpectedHeaders(own.rank, from_each), *builder, failure);
    });
  }
  agree(comm, failure);
  return builder->finish();
}

}  // namespace commpass
