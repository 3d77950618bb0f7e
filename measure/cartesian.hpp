// commpass measure --cartesian: Cartesian collectives beside what MPI libraries do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/neighborhood.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/report/call_report.hpp"

namespace commpass {

struct CartesianMeasurement {
  Machine machine;
  std::optional<Layout> layout;
  CostModel model{};
  std::vector<std::string> strategies;  ///< to be timed, "trivial" and "cartesian" among them; empty: these two
  int repetitions = 0;                  ///< see time_exchanges
  bool shown = false;                   ///< progress
  bool reorder = false;                 ///< also with ranks at other places (CartOptions::reorder)
};

/// Times persistent alltoalls, or allgathers, with each strategy and with the choice, the plain loop over all
/// neighbours and, where the MPI library has it, its neighbourhood collective, and checks that each delivers every
/// byte. With `reorder` the choice is timed with ranks at other places, too, and the context says what that brings.
/// Collective on MPI_COMM_WORLD.
/// @param pattern  with blocks of one size
/// @return on rank 0, all but the context's pattern
/// @throws Error, the same on every rank
CallReport measure_cartesian(const CartesianMeasurement& measurement, const CartesianPattern& pattern);

}  // namespace commpass
