#include "runtime/indexed/value_requests.hpp"

#include <algorithm>
#include <utility>

#include "runtime/sparse/sparse_lists.hpp"

namespace commpass {

DistinctIndices distinct_indices(std::span<const Index> given) {
  std::vector<std::pair<Index, std::size_t>> sorted;
  for (std::size_t i = 0; i < given.size(); ++i) sorted.emplace_back(given[i], i);
  std::ranges::sort(sorted);
  DistinctIndices result;
  result.number_of.resize(given.size());
  for (const auto& [index, i] : sorted) {
    if (result.indices.empty() || result.indices.back() != index) {
      result.indices.push_back(index);
      result.first.push_back(i);
    }
    result.number_of[i] = result.indices.size() - 1;
  }
  return result;
}

ValueRequests request_values(SparseEngine& engine, const OwnedIndices& owned, const DistinctIndices& needed,
                             std::span<const Rank> owners, const SparseOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  ValueRequests result;
  RankLists<Index> asked;
  all_or_none(comm, [&] {
    const auto& indices = needed.indices;
    std::vector<std::size_t> order;  // of the indices that others own: by owner, then by first need
    for (std::size_t n = 0; n < indices.size(); ++n)
      if (!owned.position(indices[n])) order.push_back(n);
    std::ranges::sort(order, {}, [&](std::size_t n) { return std::pair(owners[n], needed.first[n]); });
    std::vector<std::int64_t> slot_of_index(indices.size(), own_value);
    for (const auto n : order) {
      if (result.owners.empty() || result.owners.back().rank != owners[n])
        result.owners.push_back({owners[n], result.slots, 0});
      ++result.owners.back().slots;
      slot_of_index[n] = result.slots++;
      asked[owners[n]].push_back(indices[n]);
    }
    for (std::size_t i = 0; i < needed.number_of.size(); ++i) {
      const auto n = needed.number_of[i];
      result.slot_of.push_back(slot_of_index[n]);
      if (slot_of_index[n] == own_value) append(result.own, *owned.position(indices[n]), static_cast<std::int64_t>(i));
    }
  });
  const auto requests = exchange_lists(engine, asked, options);
  all_or_none(comm, [&] {
    for (const auto& [needer, list] : requests) {
      auto& request = result.to_this_rank.emplace_back(ValueRequest{needer, {}});
      for (const Index index : list) request.positions.push_back(owned.position(index).value());
    }
  });
  return result;
}

}  // namespace commpass
