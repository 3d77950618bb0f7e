#include "runtime/execute/landings.hpp"

#include "model/base/error.hpp"
#include "runtime/choose/warn_once.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"

namespace commpass {

/// What a receiver tells a sender of its node.
struct Landings::Told {
  NodeMemory::Place slots;  ///< both sets
  Bytes taken = 0;          ///< where that number is, in the same mapping
  Bytes bytes = 0;          ///< of a set
};

namespace {

template <class Use>
void for_all(const Plan& plan, std::vector<PlannedMessage> PlannedBatch::*side, Use use) {
  for (const auto& batch : plan.batches)
    for (const auto& message : batch.*side) use(message);
}

}  // namespace

Landings::Landings(const Context& context, const Plan& plan) {
  const auto& memory = *context.node_memory;
  const auto& layout = context.layout;
  const Rank rank = context.comm.rank();
  for (Rank peer = 0; peer < layout.ranks(); ++peer)
    numbers_.push_back(peer != rank && layout.node(peer) == layout.node(rank) ? memory.rank_on_node(peer) : -1);
  const auto count = [&](std::vector<PlannedMessage> PlannedBatch::*side, std::vector<Bytes>& bytes) {
    bytes.resize(static_cast<std::size_t>(memory.node().size()));
    for_all(plan, side, [&](const PlannedMessage& message) {
      if (is_pushed(message))
        bytes[static_cast<std::size_t>(number_of(message.peer))] += LandingSlot::bytes_for(message.bytes);
    });
  };
  count(&PlannedBatch::sends, sent_);
  count(&PlannedBatch::receives, received_);
}

std::unique_ptr<Landings> Landings::share(const Context& context, const Plan& plan) {
  if (context.layout.max_ppn() == 1) return nullptr;
  const MPI_Comm comm = context.comm.get();
  auto& memory = *context.node_memory;
  std::unique_ptr<Landings> result;
  std::optional<NodeMemory::Range> range;
  if (may_share_memory()) {
    memory.open(comm);
    Bytes bytes = LandingSlot::line;  // for the number of exchanges that are taken in
    all_or_none(comm, [&] {
      result.reset(new Landings(context, plan));  // NOLINT: the constructor is private
      for (const auto each : result->received_) bytes += 2 * each;
    });
    range = memory.take(comm, bytes);
  }
  if (!range) {
    warn_once("ranks of a node share no memory, or too little is left; their messages go by MPI.", context.comm.rank());
    return nullptr;
  }
  result->range_.emplace(std::move(*range));
  std::vector<Told> mine, told;
  all_or_none(comm, [&] {
    mine = result->tell();
    told.resize(mine.size());
  });
  constexpr int bytes_told = sizeof(Told);
  COMMPASS_MPI_CALL(MPI_Alltoall, mine.data(), bytes_told, MPI_BYTE, told.data(), bytes_told, MPI_BYTE,
                    memory.node().get());
  all_or_none(comm, [&] { result->place(memory, plan, told); });
  return result;
}

std::vector<Landings::Told> Landings::tell() {
  const auto [mapping, begin] = range_->place();
  std::vector<Told> told;
  Bytes next = begin + LandingSlot::line;
  for (const auto bytes : received_) {
    told.push_back({{mapping, next}, begin, bytes});
    next += 2 * bytes;
  }
  return told;
}

void Landings::place(const NodeMemory& memory, const Plan& plan, const std::vector<Told>& told) {
  taken_.emplace(memory.address(range_->place()));
  const auto mine = tell();
  const auto add_slots = [&](std::vector<PlannedMessage> PlannedBatch::*side, std::vector<Told> from,
                             std::vector<Slot>& slots) {
    for_all(plan, side, [&](const PlannedMessage& message) {
      if (!is_pushed(message)) return;
      auto& [next, taken, set_bytes] = from[static_cast<std::size_t>(number_of(message.peer))];
      const auto bytes = LandingSlot::bytes_for(message.bytes);
      slots.push_back({{memory.address(next), bytes}, set_bytes});
      next.offset += bytes;
    });
  };
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told[i].bytes != sent_[i]) throw Error("exchange: ranks of a node plan different messages between them.");
    if (sent_[i] > 0 && received_[i] == 0)
      silent_receivers_.emplace_back(memory.address({told[i].slots.mapping, told[i].taken}));
  }
  add_slots(&PlannedBatch::sends, told, sends_);
  add_slots(&PlannedBatch::receives, mine, receives_);
}

Plan Landings::rest_of(const Plan& plan) const {
  auto rest = plan;
  for (auto& batch : rest.batches)
    for (auto* const messages : {&batch.sends, &batch.receives})
      std::erase_if(*messages, [&](const PlannedMessage& message) { return is_pushed(message); });
  return rest;
}

}  // namespace commpass
