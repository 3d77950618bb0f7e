// The wait of ranks for one another between rounds of messages (operations.skew_s), of exchanges that were timed.
#pragma once

#include <span>

#include "calibrate/fit/verdict.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// The most rounds between nodes that a layout of several nodes has, at most 64.
int skew_rounds(const Layout& layout);

/// Every rank sends to skew_rounds ranks of other nodes, round by round: at first to the nearest node and local rank.
Pattern make_rounds(const Layout& layout, Bytes bytes);
inline constexpr const char* skew_strategy = "standard,window=1";

/// @param exchanges  of make_rounds, by that strategy, priced without skew
/// @param machine    of these prices
/// @return skew_s, the same for all sizes; 0 where the times do not exceed the prices clearly (beyond_prices)
Seconds fit_skew(std::span<const HeldOut> exchanges, const Layout& layout, const Machine& machine);

}  // namespace commpass
