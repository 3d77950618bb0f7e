// commpass measure --sparse: a pattern as a sparse dynamic data exchange, of which every rank knows what it sends only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/choose/planner_mode.hpp"
#include "selector/report/call_report.hpp"

namespace commpass {

struct SparseMeasurement {
  Machine machine;
  std::optional<Layout> layout;
  bool constant_size = false;                   ///< all messages are equally large, and every rank knows it
  std::vector<std::string> strategies;          ///< to be timed; empty: all suggested ones
  int repetitions = 0;                          ///< see time_exchanges
  bool shown = false;                           ///< progress
  PlannerMode planner = PlannerMode::estimate;  ///< that of the environment of rank 0, as which it chooses
};

/// Times strategies, the choice when it has settled, and what applications write by hand, and checks that all of them
/// deliver every byte. Collective on MPI_COMM_WORLD.
/// @return on rank 0, all but the context's pattern
/// @throws Error, the same on every rank
CallReport measure_sparse(const SparseMeasurement& measurement, const Pattern& pattern);

}  // namespace commpass
