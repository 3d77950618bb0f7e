// Measures a machine over MPI and makes its profile.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "calibrate/fit/provenance.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/profile.hpp"

namespace commpass {

struct CalibrationOptions {
  std::string name = "this-machine";  ///< as CalibrateArguments has it
  Seconds budget_s = 60;
  Bytes largest_bytes = Bytes{4} << 20;
  /// Called on rank 0 with what is going on and the fraction of the budget that is spent.
  std::function<void(const std::string& what, double fraction)> progress;
};

struct CalibrationResult {
  Profile profile;
  std::vector<HeldOut> held_out;  ///< with the profile's verdict, as in its provenance; empty if they were not timed
  std::vector<SlowNode> slow_nodes;
  std::vector<std::string> no_time_for;  ///< not measured, as the budget was over
  std::string measured_again;            ///< since held-out exchanges were off; as in the provenance
};

/// Calibrates on the ranks of `comm`, laid out as `layout` says. Collective.
///
/// Measures, for every level that the layout has: ping-pongs over all sizes, shuffled, until each median is known to
/// 3 % or the budget is spent; protocols by segmented regression, their switch points narrowed by bisection; bursts
/// (α_next, γ); what ranks share, by a sweep over active pairs. Then what a node takes in, local copies, derived
/// datatypes, the operations of dynamic exchanges, and what the MPI library's neighbourhood collective takes beyond a
/// direct exchange. At last it checks the profile on exchanges that no fit has seen, and
/// measures again, if they are off, where they spend most of their time. Where lone messages take half as long again
/// now and then, it measures everything again while the budget has room, and takes the turn with fewest such parts.
/// Where a node has devices, a quarter of the budget is for their copies and messages.
/// What could not be measured is absent from the profile, and its provenance says why. So is what there was no time
/// for: parts that are late take few samples, and beyond the budget, a tenth of it and a second nothing but what was
/// begun is ended. Ping-pongs alone are always there.
/// @return the same on every rank
/// @throws InputError on fewer than two ranks, MpiError
CalibrationResult calibrate(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options);

}  // namespace commpass
