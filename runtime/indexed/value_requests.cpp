#include "runtime/indexed/value_requests.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/sparse/sparse_lists.hpp"

namespace commpass {

namespace {

/// A needed index and where it is needed first.
struct Need {
  Index index = 0;
  std::size_t first = 0;
  Rank owner = 0;
};

/// @param number_of  for each needed value, which of the result is its
std::vector<Need> distinct_needs(std::span<const Index> needed, std::vector<std::size_t>& number_of) {
  std::vector<std::pair<Index, std::size_t>> sorted;
  for (std::size_t i = 0; i < needed.size(); ++i) sorted.emplace_back(needed[i], i);
  std::ranges::sort(sorted);
  std::vector<Need> result;
  number_of.resize(needed.size());
  for (const auto& [index, i] : sorted) {
    if (result.empty() || result.back().index != index) result.push_back({index, i, 0});
    number_of[i] = result.size() - 1;
  }
  return result;
}

}  // namespace

ValueRequests request_values(SparseEngine& engine, const OwnedIndices& owned, std::span<const Index> needed,
                             const SparseOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  std::vector<std::size_t> number_of;
  std::vector<Need> needs;
  std::vector<Index> indices;
  all_or_none(comm, [&] {
    needs = distinct_needs(needed, number_of);
    for (const auto& need : needs) indices.push_back(need.index);
  });
  const auto owners = find_owners(engine, owned, indices, options);

  ValueRequests result;
  RankLists<Index> asked;
  all_or_none(comm, [&] {
    std::vector<std::size_t> order;  // of the needs that others own: by owner, then by first need
    for (std::size_t n = 0; n < needs.size(); ++n) {
      needs[n].owner = owners[n];
      if (!owned.position(needs[n].index)) order.push_back(n);
    }
    std::ranges::sort(order, {}, [&](std::size_t n) { return std::pair(needs[n].owner, needs[n].first); });
    std::vector<std::int64_t> slot_of_need(needs.size(), own_value);
    for (const auto n : order) {
      if (result.owners.empty() || result.owners.back().rank != needs[n].owner)
        result.owners.push_back({needs[n].owner, result.slots, 0});
      ++result.owners.back().slots;
      slot_of_need[n] = result.slots++;
      asked[needs[n].owner].push_back(needs[n].index);
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      result.slot_of.push_back(slot_of_need[number_of[i]]);
      if (result.slot_of.back() == own_value)
        append(result.own, *owned.position(needed[i]), static_cast<std::int64_t>(i));
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
