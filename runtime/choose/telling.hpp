// After which exchanges ranks tell each other what they have sent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/types.hpp"

namespace commpass {

constexpr int most_exchanges_a_telling = 16;

/// Telling takes a reduction over all ranks, which small exchanges should not pay each time. What is sent seldom
/// changes at once, but it may in the first exchanges. @param exchanges  so many have been run, the same on every rank
/// @param one_in     how many of them there are for each that tells, in the long run
/// @return true after the 1st, 2nd, 4th, 8th … and every one_in-th
constexpr bool tells_after(std::int64_t exchanges, int one_in = most_exchanges_a_telling) {
  return (exchanges & (exchanges - 1)) == 0 || exchanges % one_in == 0;
}

/// How many exchanges there should be for each that tells, so that telling takes at most 2 % of their time; 1 to
/// most_exchanges_a_telling.
/// @param exchange,reduction  how long one takes
inline int exchanges_a_telling(Seconds exchange, Seconds reduction) {
  constexpr double most_part = 0.02;
  const double wanted = std::ceil(reduction / (most_part * std::max(exchange, 1e-12)));
  return static_cast<int>(std::clamp(wanted, 1.0, double{most_exchanges_a_telling}));
}

}  // namespace commpass
