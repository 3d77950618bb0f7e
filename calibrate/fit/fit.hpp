// From samples to parameters: robust statistics and fits. No MPI.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// A confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// A number and its standard deviation.
struct Estimate {
  double value = 0;
  double deviation = 0;
};

/// The deviations below 0 at which an estimate contradicts prior knowledge: noise reaches them in one of a thousand
/// cases (Student's t, one side, 0.1 %).
/// @param freedom  samples beyond the parameters that were fitted to them
double contradicting_deviations(std::ptrdiff_t freedom);

/// The estimator of every measured time. Interference only makes samples longer. If one message in a hundred is late,
/// more than half of the samples of a large burst have a late one, so the median would not do.
/// @param sample  not empty
double lower_quartile(std::vector<double> sample);
/// The 95 % interval of the lower quartile from order statistics, without assuming a distribution
/// (Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems, SC'15, §3.1.3).
Interval lower_quartile_interval(std::vector<double> sample);

/// The number of samples further than three interquartile ranges above the third quartile.
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

/// Least squares of relative errors with Huber weights: all sizes count alike, and an outlier does not bend the line.
/// @param points  at least one
Line fit_line(std::span<const SizePoint> points);
/// Without Huber weights.
Line fit_line_without_weights(std::span<const SizePoint> points);
/// The weights by which Huber's loss scales the relative errors of points. @param points  at least one
std::vector<double> huber_weights(std::span<const SizePoint> points, const Line& line);
/// @param points  at least one
double median_relative_error(std::span<const SizePoint> points, const Line& line);

/// A line that holds for sizes up to max_bytes.
struct Segment {
  Bytes max_bytes = 0;  ///< the largest size that was measured and follows this line
  Line line;
  Interval alpha_interval, beta_interval;  ///< 95 %, bootstrap over sizes
  double median_relative_error = 0;
  std::size_t sizes = 0;
};

/// One segment through all points. @param points  at least one, sorted by growing size
Segment fit_segment(std::span<const SizePoint> points);

/// Segmented regression: the fewest segments that predict held-out sizes as well as more segments do, at most as many
/// as the Bayesian information criterion prefers. Every segment has at least four sizes.
/// @param points  sorted by growing size
std::vector<Segment> fit_segments(std::span<const SizePoint> points);

/// Further sizes to measure, beside those whose error is above 3 % and six times the median error of their segment or
/// of all: a protocol that holds for one octave has too few of the sampled sizes for a segment.
/// @return by growing size, none of the points' sizes
std::vector<Bytes> sizes_beside_unexplained(std::span<const SizePoint> points, std::span<const Segment> segments);

/// The matching queue γ of T(m) = first + step·m + γ·m²/2, the times of bursts of m messages in steady state. Only
/// samples with at least a quarter of the most messages count: shorter bursts show the pipeline filling.
/// @param messages, seconds  of equal length, growing, at least two different ones of them in the last quarter
/// @return 0 unless it is significant (t > 3) and above 3 % of a step
Seconds fit_gamma(std::span<const double> messages, std::span<const double> seconds);
/// The step of the same model, for a known γ.
Estimate fit_step(std::span<const double> messages, std::span<const double> seconds, Seconds gamma_s);

/// The difference between two times of m messages: call + m·message. Each is 0 unless it is significant: t > 3 if it is
/// positive, and contradicting_deviations if it is negative.
struct CallFit {
  Seconds call_s = 0;
  Seconds message_s = 0;
};
/// @param messages, seconds, other_seconds  of equal length, at least three different message counts
CallFit fit_call(std::span<const double> messages, std::span<const double> seconds,
                 std::span<const double> other_seconds);

/// The rate that ranks share, from the times of k pairs that each move `bytes` at once:
/// T(k) = max(T(1), alpha + k·bytes / rate).
/// @param seconds  T(k) for k = pairs[i]; pairs[0] is 1
/// @param known    their intervals; may be empty
/// @return infinity, since the limit is not reached, if T grows by at most 10 %, and the intervals by at most 3 %
double fit_shared_rate(std::span<const int> pairs, std::span<const double> seconds, Bytes bytes, Seconds alpha_s,
                       std::span<const Interval> known = {});

}  // namespace commpass
