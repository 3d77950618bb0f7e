// Sweep lines: the predicted time over one key.
#pragma once

#include "pictures/picture.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// A line for each named strategy, or for the choice, and one for sending directly. Dashed lines separate choices of
/// different routes. Axes are logarithmic, except for keys with few values.
/// @throws InputError unless the sweep has one key, and a point with a predicted time
Picture draw_sweep_lines(const SweepReport& report, const std::string& id = "sweep");

}  // namespace commpass
