#include "runtime/execute/landings.hpp"

#include "model/base/error.hpp"
#include "runtime/choose/warn_once.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"

namespace commpass {

namespace {

template <class Use>
void for_all(const Plan& plan, std::vector<PlannedMessage> PlannedBatch::*side, Use use) {
  for (const auto& batch : plan.batches)
    for (const auto& message : batch.*side) use(message);
}

}  // namespace

Landings::Landings(const Context& context, const Plan& plan) : memory_(*context.node_memory) {
  const auto& layout = context.layout;
  const Rank rank = context.comm.rank();
  for (Rank peer = 0; peer < layout.ranks(); ++peer)
    numbers_.push_back(peer != rank && layout.node(peer) == layout.node(rank) ? memory_.rank_on_node(peer) : -1);
  sent_.resize(static_cast<std::size_t>(memory_.node().size()));
  mine_.resize(sent_.size());
  told_.resize(sent_.size());
  for_all(plan, &PlannedBatch::sends, [&](const PlannedMessage& message) {
    if (is_pushed(message)) sent_[number_of(message)] += LandingSlot::bytes_for(message.bytes);
  });
  for_all(plan, &PlannedBatch::receives, [&](const PlannedMessage& message) {
    if (is_pushed(message)) mine_[number_of(message)].bytes += LandingSlot::bytes_for(message.bytes);
  });
}

std::unique_ptr<Landings> Landings::share(const Context& context, const Plan& plan) {
  if (context.layout.max_ppn() == 1) return nullptr;
  const MPI_Comm comm = context.comm.get();
  auto& memory = *context.node_memory;
  std::unique_ptr<Landings> result;
  std::optional<NodeMemory::Range> range;
  if (may_share_memory()) {
    memory.open(comm);
    Bytes bytes = LandingSlot::line;  // for the number of exchanges that are taken in, unless there is a free one
    all_or_none(comm, [&] {
      result.reset(new Landings(context, plan));  // NOLINT: the constructor is private
      for (const auto& each : result->mine_) bytes += 2 * each.bytes;
    });
    range = memory.take(comm, bytes);
  }
  if (!range) {
    warn_once("ranks of a node share no memory, or too little is left; their messages go by MPI.", context.comm.rank());
    return nullptr;
  }
  const auto number = memory.take_number(*range);
  const auto from = SharedNumber(memory.address(number)).value();
  auto [mapping, next] = range->place();
  for (auto& mine : result->mine_) {
    mine.slots = {mapping, next};
    mine.taken = number;
    mine.from = from;
    next += 2 * mine.bytes;
  }
  result->range_.emplace(std::move(*range));
  result->number_ = number;
  result->taken_.emplace(memory.address(number), from);
  constexpr int bytes_told = sizeof(Told);
  COMMPASS_MPI_CALL(MPI_Alltoall, result->mine_.data(), bytes_told, MPI_BYTE, result->told_.data(), bytes_told,
                    MPI_BYTE, memory.node().get());
  return result;
}

void Landings::place(const Plan& plan) {
  for (std::size_t i = 0; i < told_.size(); ++i) {
    if (told_[i].bytes != sent_[i]) throw Error("exchange: ranks of a node plan different messages between them.");
    if (sent_[i] > 0 && mine_[i].bytes == 0)
      silent_receivers_.emplace_back(memory_.address(told_[i].taken), told_[i].from);
  }
  const auto add_slots = [&](std::vector<PlannedMessage> PlannedBatch::*side, std::vector<Told> from,
                             std::vector<Slot>& slots) {
    for_all(plan, side, [&](const PlannedMessage& message) {
      if (!is_pushed(message)) return;
      auto& [next, taken, first, set_bytes] = from[number_of(message)];
      const auto bytes = LandingSlot::bytes_for(message.bytes);
      slots.push_back({{memory_.address(next), bytes}, set_bytes});
      next.offset += bytes;
    });
  };
  add_slots(&PlannedBatch::sends, told_, sends_);
  add_slots(&PlannedBatch::receives, mine_, receives_);
}

Plan Landings::rest_of(const Plan& plan) const {
  auto rest = plan;
  for (auto& batch : rest.batches)
    for (auto* const messages : {&batch.sends, &batch.receives})
      std::erase_if(*messages, [&](const PlannedMessage& message) { return is_pushed(message); });
  return rest;
}

}  // namespace commpass
