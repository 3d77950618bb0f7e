// After which exchanges ranks sum up what all of them have sent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/types.hpp"

namespace commpass {

constexpr int longest_survey_interval = 16;

/// A survey takes a reduction over all ranks, which small exchanges should not pay each time. What is sent seldom
/// changes at once, but it may in the first exchanges.
/// @param exchanges  so many have been run, the same on every rank
/// @param interval   how many of them there are for each that is surveyed, in the long run
/// @return true after the 1st, 2nd, 4th, 8th … and every interval-th
constexpr bool is_surveyed(std::int64_t exchanges, int interval = longest_survey_interval) {
  return (exchanges & (exchanges - 1)) == 0 || exchanges % interval == 0;
}

/// How many exchanges there should be for each that is surveyed, so that surveys take at most 2 % of their time; 1 to
/// longest_survey_interval.
/// @param exchange,reduction  how long one takes
inline int survey_interval(Seconds exchange, Seconds reduction) {
  constexpr double most_part = 0.02;
  const double wanted = std::ceil(reduction / (most_part * std::max(exchange, 1e-12)));
  return static_cast<int>(std::clamp(wanted, 1.0, double{longest_survey_interval}));
}

}  // namespace commpass
