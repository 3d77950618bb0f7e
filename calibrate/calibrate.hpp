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
  /// Called on rank 0 with the current part and the spent fraction of the budget.
  std::function<void(const std::string& what, double fraction)> progress;
};

struct CalibrationResult {
  Profile profile;
  std::vector<HeldOut> held_out;  ///< as in the provenance; empty if they were not timed
  std::vector<SlowNode> slow_nodes;
  std::vector<std::string> no_time_for;  ///< as in the provenance
  std::string measured_again;            ///< as in the provenance
};

/// Calibrates on the ranks of `comm` with their layout. Collective.
///
/// Runs the parts of calibration.hpp, each until its times are known to 3 % or its share of the budget is spent. If
/// held-out exchanges are predicted badly, it measures again the level where they spend most of their time. If lone
/// messages become slower by half in some parts, it runs all parts again while the budget allows, and takes the turn
/// with the fewest slow parts. Where a node has devices, a quarter of the budget is for their copies and messages.
///
/// Parameters that could not be measured are absent from the profile, and its provenance says why. Late parts take few
/// samples. Beyond 110 % of the budget and a second, the current part is dropped and no other begins. Ping-pongs
/// always run.
/// @return the same on every rank
/// @throws InputError on fewer than two ranks, MpiError
CalibrationResult calibrate(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options);

}  // namespace commpass
