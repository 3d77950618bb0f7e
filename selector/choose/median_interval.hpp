// The median of measured numbers, and the interval in which it lies.
#pragma once

#include <limits>
#include <span>
#include <vector>

namespace commpass {

/// A median, and the interval in which that of all such numbers lies with a confidence of at least 95 %.
struct MedianInterval {
  double median = 1;
  double low = 0, high = std::numeric_limits<double>::infinity();  ///< of fewer than 6 numbers nothing is known
};

/// By the numbers' ranks alone (the sign test), whatever their distribution is; also of few, where that of calibrations
/// is too narrow. Sorts the numbers, and takes no memory. @param numbers  at least one
MedianInterval sort_to_median_interval(std::span<double> numbers);
/// Likewise of a copy.
inline MedianInterval exact_median_interval(std::vector<double> numbers) { return sort_to_median_interval(numbers); }

}  // namespace commpass
