// From samples to parameters: robust statistics and fits. No MPI.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/fit/significance.hpp"
#include "model/base/types.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// A confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// What is taken for the time of a thing: the lower quartile of its samples. Interference only makes them longer, and
/// of many messages at once one is late in more than half of all samples where one in a hundred is.
/// @param sample  of at least one
double lower_quartile(std::vector<double> sample);
/// Its 95 % interval from order statistics, without assuming a distribution
/// (Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems, SC'15, §3.1.3).
Interval lower_quartile_interval(std::vector<double> sample);

/// Samples further than three interquartile ranges above the third quartile. They stay in the sample; the lower
/// quartile does not mind them.
std::int64_t count_outliers(std::vector<double> sample);

/// The time of messages of one size.
struct SizePoint {
  Bytes bytes = 0;
  Seconds seconds = 0;
};

/// seconds = alpha + beta · bytes, with both ≥ 0.
struct Line {
  Seconds alpha_s = 0;
  double beta_s_per_byte = 0;
  Seconds at(Bytes bytes) const { return alpha_s + beta_s_per_byte * static_cast<double>(bytes); }
};

/// Fits by the relative error, with Huber weights: no size counts more because its times are long, and a disturbed size
/// does not bend the line.
/// @param points  at least one
Line fit_line(std::span<const SizePoint> points);
/// The same without Huber's weights.
Line fit_line_plainly(std::span<const SizePoint> points);
/// Median distance of times from a line. @param points  at least one
double median_relative_error(std::span<const SizePoint> points, const Line& line);

/// A line that holds for sizes up to max_bytes.
struct Segment {
  Bytes max_bytes = 0;  ///< the largest size that was measured and follows this line
  Line line;
  Interval alpha_interval, beta_interval;  ///< 95 %, bootstrap over sizes
  double median_relative_error = 0;
  std::size_t sizes = 0;
};

/// One piece through all points. @param points  at least one, sorted by growing size
Segment fit_segment(std::span<const SizePoint> points);

/// Piecewise lines, as few as predict sizes that they were not fitted to as well as more do, and no more than the
/// Bayesian information criterion prefers. Every piece has at least four sizes.
/// @param points  sorted by growing size
std::vector<Segment> fit_segments(std::span<const SizePoint> points, int most_segments = 5);

/// Sizes next to those whose times are off the line of their piece by more than 3 %, and by far more than sizes of this
/// piece or of all pieces mostly are: of a protocol that holds for an octave there are too few among sizes that are
/// spread over many.
/// @return by growing size, none of the points'; none where all is explained
std::vector<Bytes> sizes_beside_unexplained(std::span<const SizePoint> points, std::span<const Segment> segments);

/// T(m) = first + step·m + gamma·m²/2 of bursts of m messages, once the first are on their way.
///
/// Of the samples only those of a quarter of the most messages and more count: with fewer, what is not yet busy shows.
/// @param messages, seconds  of equal length, growing, at least two different ones of them in the last quarter
/// @return gamma, 0 unless it is significant (t > 3) and worth a message's step
Seconds fit_gamma(std::span<const double> messages, std::span<const double> seconds);
/// @return step, where gamma is known, and its standard deviation
Estimate fit_step(std::span<const double> messages, std::span<const double> seconds, Seconds gamma_s);

/// By how much T(m) of m messages exceeds another time of the same messages: call + m·message. Each may be negative,
/// and is 0 unless it is significant: t > 3 if it costs; that it saves time is believed only where noise would say so
/// once in a thousand times.
struct CallFit {
  Seconds call_s = 0;
  Seconds message_s = 0;
};
/// @param messages, seconds, other_seconds  of equal length, at least three different message counts
CallFit fit_call(std::span<const double> messages, std::span<const double> seconds,
                 std::span<const double> other_seconds);

/// The rate that ranks share, from the times of k pairs that each move `bytes` at once:
/// T(k) = max(T(1), alpha + k·bytes / rate).
/// @param seconds  T(k) for pairs[i] pairs; pairs[0] is 1
/// @param known    how well each is known; empty: not known
/// @return infinity if T does not grow by more than a tenth, or, beyond doubt, by a thirtieth: the limit is not reached
double fit_shared_rate(std::span<const int> pairs, std::span<const double> seconds, Bytes bytes, Seconds alpha_s,
                       std::span<const Interval> known = {});

}  // namespace commpass
