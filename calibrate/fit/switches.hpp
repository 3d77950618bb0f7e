// Switches between protocols: from segments to protocols, and the search of a switch. No MPI.
#pragma once

#include <span>
#include <vector>

#include "calibrate/fit/fit.hpp"

namespace commpass {

/// Lines of the segments, such that the time does not fall at a switch unless the points prove that it does. If a line
/// falls without proof, all lines are fitted again, together.
/// @param points    sorted by growing size
/// @param segments  whose max_bytes are final
std::vector<Line> hold_at_switches(std::span<const SizePoint> points, std::span<const Segment> segments);

/// The protocols of segments, the last for messages of any size. Gives the segments the lines of hold_at_switches.
std::vector<Protocol> protocols_of(std::span<const SizePoint> points, std::span<Segment> segments);

/// The number between two others (exclusive) that is a multiple of the largest power of two.
inline Bytes roundest_between(Bytes low, Bytes high) {
  Bytes unit = 1;
  while ((low / (2 * unit) + 1) * 2 * unit < high) unit *= 2;
  return (low / unit + 1) * unit;
}

/// Searches a switch to the byte, at round sizes first: libraries switch there, and applications send them. So they are
/// on the right side if the search ends early.
/// @param low, high  sizes below and above the switch
/// @return the largest size found below it
template <class IsAbove>
Bytes bisect(Bytes low, Bytes high, IsAbove is_above) {
  while (high - low > 1) {
    const Bytes middle = roundest_between(low, high);
    (is_above(middle) ? high : low) = middle;
  }
  return low;
}

}  // namespace commpass
