// Private to `commpass measure`: what it measures, a function for each kind of exchange.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/neighbor_bytes.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/choose/planner_mode.hpp"
#include "selector/commands/program_arguments.hpp"
#include "selector/report/report.hpp"

namespace commpass {

/// The input of a measurement, the same on every rank.
struct Measurement {
  const MeasureArguments& arguments;
  Machine machine{};
  std::string layout{};  ///< as text; empty: the detected one
  CostModel model{};
  std::vector<Strategy> planned{};              ///< strategies of planned exchanges; empty: all that are offered
  PlannerMode planner = PlannerMode::estimate;  ///< of rank 0's environment, for calls that recur
  bool shows_progress = false;

  std::vector<std::string> strategy_names() const { return arguments.selection.strategy_names(); }
};

// All are collective on MPI_COMM_WORLD, check every byte (planned exchanges with --verify), and return a report on rank
// 0, whose context lacks the pattern. They throw Error, the same on every rank.

struct PlannedReport {
  Report report;            ///< its context also lacks the memory
  std::string explanation;  ///< of the strategy that --explain names
};

/// Exchanges that are planned once, and with --calls their planning.
PlannedReport measure_planned(const Measurement& measurement, const Pattern& pattern);

/// --one-shot: all-to-alls that are called once, the choice after it has settled, and MPI_Alltoallv or MPI_Alltoall.
/// @param pattern  at most one edge for each pair of ranks; with --alltoall an edge of equal bytes for each pair
CallReport measure_one_shot(const Measurement& measurement, const Pattern& pattern);

/// --sparse: sparse dynamic data exchanges, the choice after it has settled, and PETSc's algorithms. Each rank knows
/// its sends only.
CallReport measure_sparse(const Measurement& measurement, const Pattern& pattern);

/// --cartesian: persistent alltoalls or allgathers by each strategy, by the choice, by the plain loop over all
/// neighbours, and by the MPI library's neighbourhood collective where it has one. With --reorder also by the choice
/// for ranks at other places (CartOptions::reorder).
/// @param pattern  with blocks of one size
CallReport measure_cartesian(const Measurement& measurement, const CartesianPattern& pattern);

/// --halo: the halo of an array in each way, by the choice, and by a derived datatype for each direction. A cell has as
/// many bytes as the largest block of the pattern.
CallReport measure_halo(const Measurement& measurement, const CartesianPattern& pattern);

}  // namespace commpass
