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

/// Finds the owners and asks them. Collective.
/// @param needed  in any order, also several times, also own ones
/// @throws Error, the same on every rank, if no rank or two ranks own an index
ValueRequests request_values(SparseEngine& engine, const OwnedIndices& owned, std::span<const Index> needed,
                             const SparseOptions& options);

}  // namespace commpass
