// By how much a predicted time misses the measured one, and how much of that a verdict forgives.
#pragma once

#include <algorithm>

namespace commpass {

/// The factor by which two positive numbers differ, to either side alike, less 1.
inline double miss_between(double one, double other) { return std::max(one / other, other / one) - 1; }

/// What exchanges that no fit has seen may be off by in the middle, where a profile is good, and where it is usable.
inline constexpr double most_miss_if_good = 0.15, most_miss_if_usable = 0.3;

}  // namespace commpass
