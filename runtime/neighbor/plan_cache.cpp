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
                                  std::span<const ReceiveEdge> receives) {
  Entry* latest = nullptr;
  for (auto& entry : entries_)
    if (entry.known && (!latest || entry.number > latest->number) && entry.known->options == options &&
        std::ranges::equal(entry.known->sends, sends) && std::ranges::equal(entry.known->receives, receives))
      latest = &entry;
  return latest;
}

void PlanCache::keep(const std::function<KnownPlan()>& make, std::shared_ptr<NeighborGraph> graph) {
  auto& entry = *std::ranges::min_element(entries_, {}, &Entry::last_used);
  ++count_;
  entry = {.number = count_, .last_used = count_, .graph = std::move(graph)};
  try {
    entry.known.emplace(make());
    entry.bytes = bytes_of(*entry.known->plan) + bytes_of(entry.known->sends) + bytes_of(entry.known->receives);
  } catch (const std::bad_alloc&) {  // this rank then plans it again, and so do all
  }
  stay_within_memory();
}

/// Graphs stay, for they are freed on all ranks together.
void PlanCache::stay_within_memory() {
  const auto is_empty = [](const Entry& entry) { return !entry.known; };
  while (true) {
    Bytes total = 0;
    for (const auto& entry : entries_) total += is_empty(entry) ? 0 : entry.bytes;
    if (total <= most_bytes) return;
    auto& oldest = *std::ranges::min_element(
        entries_, {}, [&](const Entry& entry) { return std::pair(is_empty(entry), entry.last_used); });
    oldest.known.reset();
  }
}

}  // namespace commpass
