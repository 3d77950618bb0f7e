// After which exchanges ranks tell each other what they have sent.
#pragma once

#include <cstdint>

namespace commpass {

/// Telling takes a reduction over all ranks, which small exchanges should not pay each time. What is sent seldom changes at once, but it
/// may in the first exchanges. @param exchanges  so many have been run, the same on every rank
/// @return true after the 1st, 2nd, 4th, 8th and every 16th
constexpr bool tells_after(std::int64_t exchanges) {
  constexpr std::int64_t most_apart = 16;
  return (exchanges & (exchanges - 1)) == 0 || exchanges % most_apart == 0;
}

}  // namespace commpass
