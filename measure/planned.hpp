// commpass measure: exchanges that are planned once, strategy by strategy.
#pragma once

#include <optional>
#include <string>

#include "model/cost/cost.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/commands/arguments.hpp"
#include "selector/report/report.hpp"

namespace commpass {

struct PlannedMeasurement {
  Machine machine;
  std::optional<Layout> layout;
  CostModel model{};
  std::vector<Strategy> strategies;  ///< to be timed; empty: all that the selector considers
  Calls calls;                       ///< planning is timed, too, and counts
  int repetitions = 0;               ///< see time_exchanges
  bool verified = false;             ///< every byte of every strategy is checked first
  bool has_baseline = false;         ///< beside the plain loop over all neighbours
  std::string explained;             ///< a strategy; empty: none
  bool shown = false;                ///< progress
};

struct PlannedReport {
  Report report;            ///< all but the context's pattern and memory
  std::string explanation;  ///< of the strategy asked for
};

/// Plans, checks and times strategies. Collective on MPI_COMM_WORLD.
/// @return on rank 0
/// @throws Error, the same on every rank
PlannedReport measure_planned(const PlannedMeasurement& measurement, const Pattern& pattern);

}  // namespace commpass
