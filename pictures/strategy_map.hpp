// The strategy map: the choice over two keys of a sweep, and its speed-up.
#pragma once

#include "pictures/picture.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// A cell for each point: the route of the choice by colour and name, and its speed-up over sending directly. Ties are
/// hatched. A dagger marks choices that depend on parameters that the profile lacks. The first key goes up, the second
/// to the right.
/// @throws InputError unless the sweep has two keys
Picture draw_strategy_map(const SweepReport& report, const std::string& id = "strategy-map");

}  // namespace commpass
