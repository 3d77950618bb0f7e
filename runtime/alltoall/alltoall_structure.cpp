#include "runtime/alltoall/alltoall_structure.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "model/base/error.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/arena.hpp"
#include "runtime/plan/headers.hpp"
#include "runtime/plan/sent_headers.hpp"

namespace commpass {

namespace {

constexpr Bytes nonempty_bytes = 1;  // any number but 0: sizes are not known yet

/// The sink of a walk that makes the structure of one rank.
class Builder {
 public:
  Builder(Rank rank, int ranks) : rank_(rank), ranks_(static_cast<std::size_t>(ranks)) {
    for (Rank destination = 0; destination < ranks; ++destination)
      if (destination != rank)
        held_.push_back({{.source = rank, .destination = destination, .bytes = nonempty_bytes}, destination});
  }

  /// The blocks that have to leave; `where` is the number of a block. Once.
  std::vector<Held> take_held() { return std::move(held_); }

  void begin_batch(int) {}
  void end_batch() {
    result_.batches.push_back({result_.receives.size(), result_.sends.size()});
    for (const auto slot : emptied_) slots_.release(slot, 1);  // leaving blocks may be sent from where they lie
    emptied_.clear();
  }
  void end_stage() {
    result_.stages.push_back({result_.batches.size(), result_.receives.size(), result_.sends.size()});
  }

  void send(const Message& sent, const Departures& departures, const HeldBlocks& here) {
    auto& message = result_.sends.emplace_back(
        AlltoallStructure::Message{sent.to, result_.blocks.size(), sent.blocks, result_.announced.size(), 0, 0});
    const auto positions = std::span(departures.order).subspan(sent.first_block, sent.blocks);
    for (const auto position : positions) {
      const auto& block = here.blocks[position];
      const auto number = static_cast<std::int32_t>(here.where[position]);
      result_.blocks.push_back(number);
      if (block.destination != sent.to) {
        result_.announced.push_back(number);
        ++message.announced;
      }
      if (block.source != rank_) leave_slot(slot_of_[static_cast<std::size_t>(number - ranks_)]);
    }
  }

  void receive(const Incoming& incoming, std::vector<Held>& arrived) {
    const auto place = slots_.allocate(1);
    const auto slot = static_cast<std::size_t>(place);
    if (slot == waiting_in_.size()) waiting_in_.push_back(0);
    auto& message = result_.receives.emplace_back(AlltoallStructure::Message{
        incoming.from, result_.blocks.size(), incoming.blocks.size(), ranks_ + result_.forwarded, 0, slot});
    for (const auto& block : incoming.blocks) {
      if (block.destination == rank_) {
        result_.blocks.push_back(-1 - block.source);
        continue;
      }
      const auto number = static_cast<std::int32_t>(ranks_ + result_.forwarded++);
      result_.blocks.push_back(number);
      slot_of_.push_back(slot);
      arrived.push_back({block, number});
      ++message.announced;
    }
    waiting_in_[slot] = message.announced;
    if (message.announced == 0) emptied_.push_back(place);
  }

  AlltoallStructure finish() {
    result_.slots = static_cast<std::size_t>(slots_.capacity());
    return std::move(result_);
  }

 private:
  void leave_slot(std::size_t slot) {
    if (--waiting_in_[slot] == 0) emptied_.push_back(static_cast<Bytes>(slot));
  }

  Rank rank_;
  std::size_t ranks_;
  std::vector<Held> held_;
  std::vector<std::size_t> slot_of_;     // by the number of a forwarded block − P
  std::vector<std::size_t> waiting_in_;  // by slot, how many blocks have to leave it
  std::vector<Bytes> emptied_;           // slots that are free from the next batch on
  Arena slots_;                          // of which each is a byte
  AlltoallStructure result_;
};

std::vector<ReceiveEdge> block_from_each(Rank rank, int ranks) {
  std::vector<ReceiveEdge> edges;
  for (Rank source = 0; source < ranks; ++source)
    if (source != rank) edges.push_back({.source = source, .bytes = nonempty_bytes});
  return edges;
}

}  // namespace

AlltoallStructure make_alltoall_structure(MPI_Comm comm, const Route& route, Window window, Coalescing coalescing) {
  const RouteOfRank own{route, window, coalescing, rank_in(comm), ranks_in(comm)};
  if (edges_tell_all(route.stages().size(), coalescing)) {
    AlltoallStructure result;
    all_or_none(comm, [&] { result = find_alltoall_structure(own); });
    return result;
  }
  std::optional<Builder> builder;
  std::optional<SentHeaders> sent;
  all_or_none(comm, [&] {
    builder.emplace(own.rank, own.ranks);
    sent.emplace(comm, coalescing);
  });
  Failure failure;
  walk_stages(own, builder->take_held(), std::ref(*sent), *builder, failure);
  agree(comm, failure);
  return builder->finish();
}

AlltoallStructure find_alltoall_structure(const RouteOfRank& own) {
  Builder builder(own.rank, own.ranks);
  const auto from_each = block_from_each(own.rank, own.ranks);
  const HeaderSource source = edges_tell_all(own.route.stages().size(), own.coalescing)
                                  ? HeaderSource(ExpectedHeaders(own.rank, from_each))
                                  : HeaderSource(ComputedHeaders(own));
  Failure failure;
  walk_stages(own, builder.take_held(), source, builder, failure);
  if (failure) throw Error(failure.sentence);
  return builder.finish();
}

}  // namespace commpass
