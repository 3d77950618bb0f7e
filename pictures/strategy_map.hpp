// The strategy map: over two keys of a sweep, which route wins by how much.
#pragma once

#include "pictures/picture.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// A cell for each point: the winner's route by colour and by name, and how many times as long sending directly takes.
/// A dagger marks prices that rest on what the profile lacks. The first key goes up, the second to the right.
/// @throws InputError unless the sweep has two keys
Picture draw_strategy_map(const SweepReport& report, const std::string& id = "strategy-map");

}  // namespace commpass
