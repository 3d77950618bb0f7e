// By how much a predicted time misses the measured one, and how much of that a verdict forgives.
#pragma once

#include <algorithm>

namespace commpass {

/// The factor by which two positive numbers differ, to either side alike, less 1.
inline double miss_between(double one, double other) { return std::max(one / other, other / one) - 1; }

/// The largest median error on exchanges that were not used for fitting, of a good profile and of a usable one.
inline constexpr double most_miss_if_good = 0.15, most_miss_if_usable = 0.3;

}  // namespace commpass
