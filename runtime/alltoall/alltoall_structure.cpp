#include "runtime/alltoall/alltoall_structure.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/stage_messages.hpp"

namespace commpass {

namespace {

/// Builds the structure of one rank, stage by stage.
class Builder {
 public:
  Builder(Rank rank, int ranks) : rank_(rank), ranks_(static_cast<std::size_t>(ranks)) {
    for (Rank destination = 0; destination < ranks; ++destination)
      if (destination != rank) held_.push_back({{.source = rank, .destination = destination, .bytes = 1}, destination});
  }

  /// The blocks that are here and have to leave, sorted.
  std::span<const Block> begin_stage() {
    std::ranges::sort(held_, {}, [](const Held& h) { return std::pair(h.block.destination, h.block.source); });
    blocks_.clear();
    for (const auto& held : held_) blocks_.push_back(held.block);
    return blocks_;
  }

  void add_stage(const StageMessages& messages) {
    std::vector<bool> gone(held_.size(), false);
    std::vector<Held> arrived;
    std::set<int> batches;
    for (const auto& message : messages.departures.messages) batches.insert(message.batch);
    for (const auto& message : messages.incoming) batches.insert(message.batch);
    for (const int batch : batches) {
      for (const auto& message : messages.departures.messages) {
        if (message.batch != batch) continue;
        const auto numbers = std::span(messages.departures.order).subspan(message.first_block, message.blocks);
        add_send(message.to, numbers);
        for (const auto number : numbers) gone[number] = true;
      }
      for (const auto& message : messages.incoming)
        if (message.batch == batch) add_receive(message, arrived);
      result_.batches.push_back({result_.receives.size(), result_.sends.size()});
      free_slots_.insert(emptied_.begin(), emptied_.end());  // what leaves may be sent from where it lies
      emptied_.clear();
    }
    std::vector<Held> kept;
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (!gone[i]) kept.push_back(held_[i]);
    kept.insert(kept.end(), arrived.begin(), arrived.end());
    held_ = std::move(kept);
    result_.stages.push_back({result_.batches.size(), result_.receives.size(), result_.sends.size()});
  }

  AlltoallStructure finish() { return std::move(result_); }

 private:
  struct Held {
    Block block;
    std::int32_t number = 0;
  };

  void add_send(Rank to, std::span<const std::uint32_t> positions) {
    auto& message = result_.sends.emplace_back(
        AlltoallStructure::Message{to, result_.blocks.size(), positions.size(), result_.announced.size(), 0, 0});
    for (const auto position : positions) {
      const auto& [block, number] = held_[position];
      result_.blocks.push_back(number);
      if (block.destination != to) {
        result_.announced.push_back(number);
        ++message.announced;
      }
      if (block.source != rank_) leave_slot(slot_of_[static_cast<std::size_t>(number - ranks_)]);
    }
  }

  void add_receive(const Incoming& incoming, std::vector<Held>& arrived) {
    const auto slot = take_slot();
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
    if (message.announced == 0) emptied_.push_back(slot);
  }

  std::size_t take_slot() {
    if (free_slots_.empty()) {
      waiting_in_.push_back(0);
      return result_.slots++;
    }
    const auto slot = *free_slots_.begin();
    free_slots_.erase(free_slots_.begin());
    return slot;
  }
  void leave_slot(std::size_t slot) {
    if (--waiting_in_[slot] == 0) emptied_.push_back(slot);
  }

  Rank rank_;
  std::size_t ranks_;
  std::vector<Held> held_;
  std::vector<Block> blocks_;            // of held_
  std::vector<std::size_t> slot_of_;     // by the number of a forwarded block − P
  std::vector<std::size_t> waiting_in_;  // by slot, how many blocks have to leave it
  std::vector<std::size_t> emptied_;     // slots that are free from the next batch on
  std::set<std::size_t> free_slots_;
  AlltoallStructure result_;
};

}  // namespace

AlltoallStructure make_alltoall_structure(MPI_Comm comm, const Route& route, Window window, Coalescing coalescing) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  std::optional<Builder> builder;
  all_or_none(comm, [&] { builder.emplace(rank, ranks); });
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
    std::span<const Block> held;
    all_or_none(comm, [&] { held = builder->begin_stage(); });
    const auto messages = exchange_headers(comm, route, stage, window, coalescing, held);
    all_or_none(comm, [&] { builder->add_stage(messages); });
  }
  return builder->finish();
}

}  // namespace commpass
