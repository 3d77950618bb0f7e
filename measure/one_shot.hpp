// commpass measure --one-shot: all-to-alls that are called once, beside MPI_Alltoallv or MPI_Alltoall.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/block_sizes.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/choose/planner_mode.hpp"
#include "selector/report/call_report.hpp"

namespace commpass {

struct OneShotMeasurement {
  Machine machine;
  std::optional<Layout> layout;
  std::vector<std::string> strategies;          ///< to be timed; empty: all that the selector considers
  int repetitions = 0;                          ///< see time_exchanges
  BlockSizes sizes = BlockSizes::told;          ///< equal: by alltoall, not alltoallv
  bool shown = false;                           ///< progress
  PlannerMode planner = PlannerMode::estimate;  ///< that of the environment of rank 0, as which it chooses
};

/// Times strategies, the choice when it knows the sizes of the call before, and MPI_Alltoallv or MPI_Alltoall, and
/// checks that all of them deliver every byte. Collective on MPI_COMM_WORLD.
/// @param pattern  at most one edge for each pair of ranks; for equal sizes one of the same bytes for each, and ranks
/// send as much to themselves
/// @return on rank 0, all but the context's pattern
/// @throws Error, the same on every rank
CallReport measure_one_shot(const OneShotMeasurement& measurement, const Pattern& pattern);

}  // namespace commpass
