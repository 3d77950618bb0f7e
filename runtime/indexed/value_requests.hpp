// Which values this rank asks of whom, and which ones others ask of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/indexed/index_owners.hpp"
#include "runtime/indexed/value_runs.hpp"

namespace commpass {

/// Values that another rank needs, in the order in which it needs them first.
struct ValueRequest {
  Rank needer = 0;
  std::vector<std::int64_t> positions;  ///< among the owned values
};

/// The distinct values that this rank needs of one owner have consecutive slots, in the order in which it needs them
/// first.
struct Owner {
  Rank rank = 0;
  std::int64_t first_slot = 0, slots = 0;
};

struct ValueRequests {
  std::vector<ValueRequest> to_this_rank;  ///< by needer
  std::vector<Owner> owners;               ///< by rank, without this one
  std::int64_t slots = 0;                  ///< of all owners
  std::vector<std::int64_t> slot_of;       ///< of each needed value; own_value if this rank owns it
  ValueRuns own;                           ///< from owned values to needed values
};
inline constexpr std::int64_t own_value = -1;

/// Some indices, each once.
struct DistinctIndices {
  std::vector<Index> indices;          ///< ascending
  std::vector<std::size_t> first;      ///< of each, its first position among those given
  std::vector<std::size_t> number_of;  ///< of each that was given, its number here
};
/// @param given  in any order, also several times
DistinctIndices distinct_indices(std::span<const Index> given);

/// Asks the owners of what this rank needs. Collective.
/// @param owners  of each index
/// @throws Error, the same on every rank
ValueRequests request_values(SparseEngine& engine, const OwnedIndices& owned, const DistinctIndices& needed,
                             std::span<const Rank> owners, const SparseOptions& options);

}  // namespace commpass
