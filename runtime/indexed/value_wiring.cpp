#include "runtime/indexed/value_wiring.hpp"

#include <algorithm>

#include "runtime/sparse/sparse_lists.hpp"

namespace commpass {

namespace {

std::size_t at_index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Delivers the value that arrives at place_of[slot] to all positions that need the slot.
ValueRuns deliveries(const ValueRequests& requests, const std::vector<std::int64_t>& place_of) {
  ValueRuns runs;
  for (std::size_t i = 0; i < requests.slot_of.size(); ++i)
    if (const auto slot = requests.slot_of[i]; slot != own_value)
      append(runs, place_of[at_index(slot)], static_cast<std::int64_t>(i));
  return runs;
}

std::vector<std::int64_t> slots_in_order(const ValueRequests& requests) {
  std::vector<std::int64_t> result;
  for (std::int64_t slot = 0; slot < requests.slots; ++slot) result.push_back(slot);
  return result;
}

}  // namespace

SplitRuns split_by_place(const ValueRuns& runs, std::vector<bool>& is_filled) {
  SplitRuns result;
  for (const auto& run : runs) {
    is_filled.resize(std::max(is_filled.size(), at_index(run.to + run.count)));
    for (std::int64_t i = 0; i < run.count; ++i) {
      auto&& is_its_place_filled = is_filled[at_index(run.to + i)];
      append(is_its_place_filled ? result.more : result.first, run.from + i, run.to + i);
      is_its_place_filled = true;
    }
  }
  return result;
}

ValueWiring forward_wiring(const ValueRequests& requests, Bytes value_bytes) {
  ValueWiring wiring;
  for (const auto& [needer, positions] : requests.to_this_rank) {
    wiring.sends.push_back({needer, wiring.sent_values * value_bytes, std::ssize(positions) * value_bytes});
    for (const auto position : positions) append(wiring.gather, position, wiring.sent_values++);
  }
  for (const auto& owner : requests.owners)
    wiring.receives.push_back({owner.rank, owner.first_slot * value_bytes, owner.slots * value_bytes});
  wiring.received_values = requests.slots;
  wiring.deliver = deliveries(requests, slots_in_order(requests));
  return wiring;
}

ValueWiring back_wiring(const ValueWiring& forward) {
  ValueWiring wiring;
  wiring.sends = forward.sends;
  wiring.receives = forward.receives;
  std::vector<bool> is_filled;
  auto [first, more] = split_by_place(reversed(forward.deliver), is_filled);
  wiring.gather = std::move(first);
  wiring.gather_more = std::move(more);
  wiring.deliver = reversed(forward.gather);
  wiring.sent_values = forward.received_values;
  wiring.received_values = forward.sent_values;
  return wiring;
}

ValueWiring reverse_wiring(const ValueRequests& requests, Bytes value_bytes) {
  auto wiring = back_wiring(forward_wiring(requests, value_bytes));
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  for (const auto& [source, offset, bytes] : wiring.receives) sends.push_back({source, offset, bytes});
  for (const auto& [destination, offset, bytes] : wiring.sends) receives.push_back({destination, offset, bytes});
  wiring.sends = std::move(sends);
  wiring.receives = std::move(receives);
  return wiring;
}

ValueWiring shared_wiring(SparseEngine& engine, const ValueRequests& requests, std::span<const ValueGroup> groups,
                          Bytes value_bytes, const SparseOptions& options) {
  ValueWiring wiring;
  // To each reader: how many edges; the values of each; and all of them, as ordinals in its request.
  RankLists<std::int64_t> orders;
  all_or_none(engine.context()->comm.get(), [&] {
    struct ToReader {
      std::vector<std::int64_t> sizes, ordinals;
      std::vector<bool> is_grouped;
    };
    std::vector<ToReader> readers(requests.to_this_rank.size());
    for (std::size_t r = 0; r < readers.size(); ++r)
      readers[r].is_grouped.resize(requests.to_this_rank[r].positions.size());
    for (const auto& group : groups) {
      const auto values = std::ssize(group.positions);
      for (std::size_t k = 0; k < group.readers.size(); ++k) {
        auto& reader = readers[group.readers[k]];
        wiring.sends.push_back(
            {requests.to_this_rank[group.readers[k]].needer, wiring.sent_values * value_bytes, values * value_bytes});
        reader.sizes.push_back(values);
        for (auto i = k; i < group.ordinals.size(); i += group.readers.size()) {
          reader.ordinals.push_back(group.ordinals[i]);
          reader.is_grouped[at_index(group.ordinals[i])] = true;
        }
      }
      for (const auto position : group.positions) append(wiring.gather, position, wiring.sent_values++);
    }
    for (std::size_t r = 0; r < readers.size(); ++r) {
      const auto& [needer, positions] = requests.to_this_rank[r];
      auto& [sizes, ordinals, is_grouped] = readers[r];
      const auto first = wiring.sent_values;
      for (std::size_t ordinal = 0; ordinal < positions.size(); ++ordinal) {
        if (is_grouped[ordinal]) continue;
        append(wiring.gather, positions[ordinal], wiring.sent_values++);
        ordinals.push_back(static_cast<std::int64_t>(ordinal));
      }
      if (const auto rest = wiring.sent_values - first; rest > 0) {
        wiring.sends.push_back({needer, first * value_bytes, rest * value_bytes});
        sizes.push_back(rest);
      }
      auto& order = orders[needer];
      order.push_back(std::ssize(sizes));
      order.insert(order.end(), sizes.begin(), sizes.end());
      order.insert(order.end(), ordinals.begin(), ordinals.end());
    }
  });
  orders = exchange_lists(engine, orders, options);
  all_or_none(engine.context()->comm.get(), [&] {
    std::vector<std::int64_t> place_of(at_index(requests.slots));
    for (const auto& owner : requests.owners) {
      const std::span<const std::int64_t> order = orders.at(owner.rank);
      const auto edges = at_index(order.front());
      const auto sizes = order.subspan(1, edges), ordinals = order.subspan(1 + edges);
      auto place = owner.first_slot;
      for (const auto ordinal : ordinals) place_of[at_index(owner.first_slot + ordinal)] = place++;
      place = owner.first_slot;
      for (const auto values : sizes) {
        wiring.receives.push_back({owner.rank, place * value_bytes, values * value_bytes});
        place += values;
      }
    }
    wiring.received_values = requests.slots;
    wiring.deliver = deliveries(requests, place_of);
  });
  return wiring;
}

bool receive_in_place(ValueWiring& wiring, Bytes value_bytes) {
  constexpr std::int64_t nowhere = -1;
  std::vector<std::int64_t> first_position(at_index(wiring.received_values), nowhere);
  ValueRuns again;
  for (const auto& run : wiring.deliver)
    for (std::int64_t i = 0; i < run.count; ++i) {
      auto& first = first_position[at_index(run.from + i)];
      if (first == nowhere) first = run.to + i;
      else append(again, first, run.to + i);
    }
  for (const auto& edge : wiring.receives) {
    const auto first = edge.offset / value_bytes, values = edge.bytes / value_bytes;
    for (auto place = first + 1; place < first + values; ++place)
      if (first_position[at_index(place)] != first_position[at_index(place - 1)] + 1) return false;
  }
  for (auto& edge : wiring.receives) edge.offset = first_position[at_index(edge.offset / value_bytes)] * value_bytes;
  wiring.deliver = std::move(again);
  return true;
}

}  // namespace commpass
