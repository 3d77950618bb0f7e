// Exchanges between all pairs of ranks, with the arguments of MPI_Alltoallv (runtime/communicator.hpp).
#pragma once

#include <optional>
#include <string>

#include "runtime/neighbor/typed_exchange.hpp"

namespace commpass {

/// The same on every rank.
struct AlltoallvOptions {
  std::string strategy;                 ///< run this one; empty: COMMPASS_ALLTOALLV_STRATEGY, else the cheapest
  std::optional<double> block_bytes{};  ///< a hint: the mean size of a block, 0 or more. Absent: that of the last
                                        ///< survey (Communicator::alltoallv)
  /// Time the few that have the best prices (measure) or all (patient) in these calls themselves, the MPI library's own
  /// among them, and keep the one that is the fastest beyond doubt (docs/cpp.md); or time those that prices cannot tell
  /// apart, for at most 1 % of the time of the calls (adaptive). Nothing: COMMPASS_PLANNER, else adaptive; estimate: by
  /// prices alone. Not where a strategy is named.
  std::optional<PlannerMode> planner{};
  std::optional<Seconds>
      planner_seconds{};  ///< that timing may lose, unless adaptive; nothing: 0.1 s, or 1 s if patient
};

/// A planned all-to-all.
using PersistentAlltoallv = TypedExchange;

}  // namespace commpass
