// Sweep lines: the price over one key.
#pragma once

#include "pictures/picture.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// A line for each strategy that was named, or for the winner, and one for sending directly; where the winner changes,
/// a mark. Both axes are logarithmic, but that of dimensions.
/// @throws InputError unless the sweep has one key, and a point with a price
Picture draw_sweep_lines(const SweepReport& report, const std::string& id = "sweep");

}  // namespace commpass
