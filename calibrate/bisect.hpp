// From which size on something is otherwise.
#pragma once

#include "model/base/types.hpp"

namespace commpass {

/// The number between two others (exclusive) that is a multiple of the largest power of two.
inline Bytes roundest_between(Bytes low, Bytes high) {
  Bytes unit = 1;
  while ((low / (2 * unit) + 1) * 2 * unit < high) unit *= 2;
  return (low / unit + 1) * unit;
}

/// The largest size found below the switch, to the byte. Asks at round numbers first: libraries switch there, and
/// applications send them, so if the time is over, they are on the right side.
/// @param low, high  below and above it
template <class IsAbove>
Bytes bisect(Bytes low, Bytes high, IsAbove is_above) {
  while (high - low > 1) {
    const Bytes middle = roundest_between(low, high);
    (is_above(middle) ? high : low) = middle;
  }
  return low;
}

}  // namespace commpass
