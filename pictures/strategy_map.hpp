// The strategy map: over two keys of a sweep, which route is chosen, and how much faster it is.
#pragma once

#include "pictures/picture.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// A cell for each point: the chosen route by colour and by name, and how many times faster than sending directly it
/// is. Ties are hatched. A dagger marks prices that rest on what the profile lacks. The first key goes up, the second
/// to the right.
/// @throws InputError unless the sweep has two keys
Picture draw_strategy_map(const SweepReport& report, const std::string& id = "strategy-map");

}  // namespace commpass
