#include "runtime/neighbor/plan_cache.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace commpass {

namespace {

template <class Item>
Bytes bytes_of(const std::vector<Item>& items) {
  return std::ssize(items) * static_cast<Bytes>(sizeof(Item));
}

Bytes bytes_of(const Plan& plan) {
  Bytes bytes = bytes_of(plan.batches) + bytes_of(plan.self);
  for (const auto& batch : plan.batches)
    for (const auto* messages : {&batch.receives, &batch.sends}) {
      bytes += bytes_of(*messages);
      for (const auto& message : *messages) bytes += bytes_of(message.pieces);
    }
  return bytes;
}

}  // namespace

PlanCache::Entry* PlanCache::find(const ExchangeOptions& options, std::span<const SendEdge> sends,
                                  std::span<const ReceiveEdge> receives, Bytes added_value_bytes) {
  Entry* latest = nullptr;
  for (auto& entry : entries_)
    if (entry.known && (!latest || entry.number > latest->number) && entry.known->options == options &&
        entry.known->added_value_bytes == added_value_bytes && std::ranges::equal(entry.known->sends, sends) &&
        std::ranges::equal(entry.known->receives, receives))
      latest = &entry;
  return latest;
}

void PlanCache::keep(const std::function<KnownPlan()>& make, std::shared_ptr<NeighborGraph> graph) {
  auto& entry = *std::ranges::min_element(entries_, {}, &Entry::last_used);
  ++count_;
  entry = {.number = count_, .last_used = count_, .graph = std::move(graph)};
  try {
    entry.known.emplace(make());
    entry.bytes = bytes_of(entry.known->sends) + bytes_of(entry.known->receives);
    for (const auto& way : entry.known->ways) entry.bytes += bytes_of(*way.plan);
  } catch (const std::bad_alloc&) {  // then all ranks plan it again
  }
  stay_within_memory();
}

/// Keeps graphs, because all ranks free them together.
void PlanCache::stay_within_memory() {
  const auto kept_bytes = [&] {
    Bytes total = 0;
    for (const auto& entry : entries_) total += entry.known ? entry.bytes : 0;
    return total;
  };
  while (kept_bytes() > bytes_max) {
    const auto age = [](const Entry& entry) { return std::pair(!entry.known, entry.last_used); };
    std::ranges::min_element(entries_, {}, age)->known.reset();
  }
}

}  // namespace commpass
