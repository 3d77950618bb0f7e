// What times of strategies, taken in turn, say about which is fastest.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// A median, and the interval in which that of all such numbers lies with a confidence of at least 95 %.
struct MedianInterval {
  double median = 1;
  double low = 0, high = std::numeric_limits<double>::infinity();  ///< of fewer than 6 numbers nothing is known
};

/// By the numbers' ranks alone (the sign test), whatever their distribution is; also of few, where that of calibrations
/// is too narrow. @param numbers  at least one
MedianInterval exact_median_interval(std::vector<double> numbers);

/// The time of each strategy ÷ that of the first one, the baseline, in the rounds in which both were timed.
/// @param seconds  for each strategy, round after round from the first on; the baseline's has all rounds. None: it was
///                 not timed
/// @return  for each; of one that was not timed nothing is known
std::vector<MedianInterval> ratios_to_first(std::span<const std::vector<Seconds>> seconds);

/// The strategy to run: of those that are faster than the baseline beyond doubt (the interval of the ratio lies below
/// 1) the one with the least median; else the baseline, 0.
std::size_t fastest_beyond_doubt(std::span<const MedianInterval> ratios);

/// Cannot that strategy be the one to run any more? So it is if another one, or the baseline, is faster than it beyond
/// doubt.
bool is_beaten(std::span<const MedianInterval> ratios, std::size_t strategy);

}  // namespace commpass
