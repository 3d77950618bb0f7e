// Conclusions from predicted and measured exchanges, above all the verdict on a profile. No MPI.
#pragma once

#include <span>
#include <vector>

#include "calibrate/fit/provenance.hpp"
#include "model/machine/machine_data.hpp"

namespace commpass {

/// The median of max(predicted ÷ measured, measured ÷ predicted) − 1. @param all  at least one
double median_miss(const std::vector<HeldOut>& all);

/// The median of measured − predicted; 0 if it is below 5 % of the median prediction, or may be noise in most
/// exchanges.
/// @param exchanges  at least one
Seconds beyond_prices(std::span<const HeldOut> exchanges);

/// Good: the median miss of held-out exchanges is at most 15 %, none is above 50 %, and their times spread as little.
/// No node is slow, no other program keeps processors busy, and the machine does not change its speed. Messages between
/// all nodes are predicted as well as those between two. No four neighbouring sizes of ping-pongs miss their line by a
/// factor of 1.5 to the same side.
///
/// None: the median miss is above 30 %, or times spread by more than 50 %, or such sizes miss their line by a factor of
/// 2, or no exchange was run.
///
/// The uncertainty is the spread of the times. Unless the verdict is good, it is at least the median difference between
/// the errors of two strategies for the same exchange, up to the median miss: errors that all strategies share do not
/// change a choice.
Verdict judge(const Provenance& provenance);

}  // namespace commpass
