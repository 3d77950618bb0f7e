// Contributions to the results of neighbours, as values that these need.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/context.hpp"
#include "runtime/indexed/value_planning.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/planned_exchanges.hpp"
#include "runtime/sparse/sparse_lists.hpp"

namespace commpass {

namespace {

constexpr auto* call_name = "neighbor_reduce_scatter";

/// The size of the result of each destination, as this rank says. @throws InputError
std::map<Rank, std::int64_t> result_sizes(std::span<const Contribution> contributions, int ranks) {
  std::map<Rank, std::int64_t> sizes;
  for (const auto& [destination, values] : contributions) {
    if (destination < 0 || destination >= ranks)
      throw InputError(call_name, fmt::format("a contribution is for rank {} of {}", destination, ranks),
                       fmt::format("use 0 … {}", ranks - 1));
    if (values < 0)
      throw InputError(call_name, fmt::format("a contribution to rank {} has {} values", destination, values),
                       "use 0 or more");
    if (const auto [size, is_new] = sizes.try_emplace(destination, values); size->second != values)
      throw InputError(call_name,
                       fmt::format("contributions to rank {} have {} and {} values", destination, size->second, values),
                       "give as many as its result has");
  }
  return sizes;
}

/// Which values this rank gives to its own result and to those of others.
ValueRequests own_requests(std::span<const Contribution> contributions, const std::map<Rank, std::int64_t>& sizes,
                           Rank rank) {
  ValueRequests requests;
  std::map<Rank, std::int64_t> first_slot_of;
  for (const auto& [destination, values] : sizes) {
    if (destination == rank || values == 0) continue;
    first_slot_of[destination] = requests.slots;
    requests.owners.push_back({destination, requests.slots, values});
    requests.slots += values;
  }
  for (const auto& [destination, values] : contributions)
    for (std::int64_t i = 0; i < values; ++i) {
      if (destination == rank) append(requests.own, i, std::ssize(requests.slot_of));
      requests.slot_of.push_back(destination == rank ? own_value : first_slot_of.at(destination) + i);
    }
  return requests;
}

}  // namespace

IndexedExchange plan_neighbor_reduce_scatter(SparseEngine& engine, std::span<const Contribution> contributions,
                                             std::int64_t result_values, Bytes value_bytes,
                                             const IndexedOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  const Rank rank = rank_in(comm);
  assemble(comm);
  auto wanted = options;
  wanted.forward = false;
  wanted.reverse = wanted.overwrite = true;
  wanted.ghost_values = nullptr;
  const auto agreed = agreed_options(comm, value_bytes, wanted);
  ValueRequests requests;
  RankLists<std::int64_t> told;
  all_or_none(comm, [&] {
    if (result_values < 0)
      throw InputError(call_name, fmt::format("the result has {} values", result_values), "use 0 or more");
    const auto sizes = result_sizes(contributions, ranks_in(comm));
    requests = own_requests(contributions, sizes, rank);
    for (const auto& [destination, values] : sizes) told[destination] = {values};
  });
  told = exchange_lists(engine, told, agreed.discovery);
  all_or_none(comm, [&] {
    for (const auto& [source, size] : told) {
      if (size.front() != result_values)
        throw InputError(
            call_name,
            fmt::format("rank {} contributes {} values to a result of {}", source, size.front(), result_values),
            "give as many as it has");
      if (source == rank || result_values == 0) continue;
      auto& positions = requests.to_this_rank.emplace_back(ValueRequest{source, {}}).positions;
      positions.resize(static_cast<std::size_t>(result_values));
      std::iota(positions.begin(), positions.end(), std::int64_t{0});
    }
  });
  return plan_value_exchange(engine, requests, value_bytes, agreed);
}

}  // namespace commpass
