// Fits of data whose truth is known.
#include "calibrate/fit/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/median.hpp"

namespace commpass {
namespace {

/// Lines and the largest size of each but the last.
struct Truth {
  std::vector<Line> lines;
  std::vector<Bytes> limits;
  Seconds at(Bytes bytes) const {
    std::size_t i = 0;
    while (i < limits.size() && bytes > limits[i]) ++i;
    return lines[i].at(bytes);
  }
};

const Truth three_protocols{{{1e-6, 1e-9}, {2e-6, 4e-10}, {8e-6, 1e-10}}, {256, 16384}};

/// `count` sizes from 1 byte to 4 MiB, evenly spaced in their logarithm, each once.
std::vector<Bytes> sizes(int count = 46) {
  std::vector<Bytes> result;
  constexpr double largest = 4 << 20;
  for (int i = 0; i < count; ++i) {
    const auto size = std::llround(std::pow(largest, i / (count - 1.0)));
    if (result.empty() || size > result.back()) result.push_back(size);
  }
  return result;
}

template <class Noise>
std::vector<SizePoint> measure(const Truth& truth, Noise noise) {
  std::vector<SizePoint> points;
  for (const Bytes size : sizes()) points.push_back({size, truth.at(size) * noise()});
  return points;
}
std::vector<SizePoint> measure(const Truth& truth) {
  return measure(truth, [] { return 1.0; });
}

/// Normal noise that is the same with every library.
class Noise {
 public:
  Noise(unsigned seed, double deviation) : random_(seed), deviation_(deviation) {}
  double operator()() {
    const double u = (number() + 1) / 4294967297.0, v = number() / 4294967296.0;
    return 1 + deviation_ * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::acos(-1.0) * v);
  }

 private:
  double number() { return static_cast<double>(random_()); }
  std::mt19937 random_;
  double deviation_;
};

void expect_near(double found, double expected, double relative, const char* what) {
  EXPECT_NEAR(found, expected, relative * expected) << what;
}

TEST(FitLine, FindsALineExactly) {
  std::vector<SizePoint> points;
  const Line truth{3e-6, 2e-10};
  for (const Bytes size : sizes()) points.push_back({size, truth.at(size)});
  const auto line = fit_line(points);
  expect_near(line.alpha_s, truth.alpha_s, 1e-9, "alpha");
  expect_near(line.beta_s_per_byte, truth.beta_s_per_byte, 1e-9, "beta");
}

TEST(FitLine, GivesNothingNegative) {
  const std::vector<SizePoint> falling{{1, 4e-6}, {100, 3e-6}, {1000, 2e-6}, {10000, 1e-6}};
  const auto flat = fit_line(falling);
  EXPECT_EQ(flat.beta_s_per_byte, 0);
  EXPECT_GE(flat.alpha_s, 1e-6);
  EXPECT_LE(flat.alpha_s, 4e-6);
  const std::vector<SizePoint> convex{
      {10, 1e-9}, {100, 1e-7}, {1000, 1e-5}, {10000, 1e-3}};  // a line through it cuts below zero
  EXPECT_GE(fit_line(convex).alpha_s, 0);
  EXPECT_GE(fit_line(convex).beta_s_per_byte, 0);
}

TEST(FitLine, TakesAConstantAsAlphaAndOnePointAsItIs) {
  const std::vector<SizePoint> constant{{1, 5e-6}, {10, 5e-6}, {100, 5e-6}};
  expect_near(fit_line(constant).alpha_s, 5e-6, 1e-9, "alpha");
  EXPECT_NEAR(fit_line(constant).beta_s_per_byte, 0, 1e-15);
  const std::vector<SizePoint> one{{1000, 5e-6}};
  expect_near(fit_line(one).at(1000), 5e-6, 1e-9, "the point");
}

TEST(FitLine, IsNotBentByAnOutlier) {
  const Line truth{3e-6, 2e-10};
  std::vector<SizePoint> points;
  Noise noise(5, 0.01);
  for (const Bytes size : sizes()) points.push_back({size, truth.at(size) * noise()});
  points[10].seconds *= 4;
  points[30].seconds *= 3;
  const auto line = fit_line(points);
  expect_near(line.alpha_s, truth.alpha_s, 0.03, "alpha");
  expect_near(line.beta_s_per_byte, truth.beta_s_per_byte, 0.03, "beta");
}

// Where the sum of ρ(error) is least its derivatives are zero: the errors, cut off at 1.345 deviations, balance each
// other. The deviation is the median of the errors' sizes over that of a normal distribution.
TEST(FitLine, SolvesHubersEquations) {
  constexpr double cut = 1.345, of_normal = 0.6745, near = 1e-2;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Noise noise(seed, 0.02);
    std::vector<SizePoint> points;
    for (const Bytes size : sizes())
      points.push_back({size, Line{3e-6, 2e-10}.at(size) * noise() * (size % 3 == 0 ? 1.1 : 1)});
    const auto line = fit_line(points);
    std::vector<double> errors, magnitudes;
    for (const auto& point : points)
      magnitudes.push_back(std::abs(errors.emplace_back(line.at(point.bytes) / point.seconds - 1)));
    const double limit = cut * median(magnitudes) / of_normal;
    ASSERT_GT(std::ranges::count_if(magnitudes, [&](double m) { return m > limit; }), 5) << "many are cut off";
    double by_alpha = 0, by_beta = 0, all_alpha = 0, all_beta = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double bounded = std::clamp(errors[i], -limit, limit) / points[i].seconds,
                   by_bytes = bounded * static_cast<double>(points[i].bytes);
      by_alpha += bounded;
      by_beta += by_bytes;
      all_alpha += std::abs(bounded);
      all_beta += std::abs(by_bytes);
    }
    EXPECT_LT(std::abs(by_alpha), near * all_alpha) << "seed " << seed;
    EXPECT_LT(std::abs(by_beta), near * all_beta) << "seed " << seed;
  }
}

void expect_truth(const std::vector<Segment>& segments, const Truth& truth, double relative) {
  ASSERT_EQ(segments.size(), truth.lines.size());
  const auto all = sizes();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    SCOPED_TRACE("segment " + std::to_string(i));
    expect_near(segments[i].line.alpha_s, truth.lines[i].alpha_s, relative, "alpha");
    expect_near(segments[i].line.beta_s_per_byte, truth.lines[i].beta_s_per_byte, relative, "beta");
    if (i + 1 == segments.size()) continue;
    // The largest size that was measured below the switch.
    Bytes last = 0;
    for (const Bytes size : all)
      if (size <= truth.limits[i]) last = size;
    EXPECT_EQ(segments[i].max_bytes, last);
  }
}

TEST(FitSegments, FindsEveryProtocolExactlyWithoutNoise) {
  const auto segments = fit_segments(measure(three_protocols));
  expect_truth(segments, three_protocols, 1e-6);
  std::size_t count = 0;
  for (const auto& segment : segments) {
    count += segment.sizes;
    EXPECT_LT(segment.median_relative_error, 1e-9);
  }
  EXPECT_EQ(count, sizes().size());
}

TEST(FitSegments, FindsAsManyProtocolsAsThereAre) {
  const Truth one{{{1e-6, 1e-10}}, {}};
  expect_truth(fit_segments(measure(one)), one, 1e-6);
  const Truth two{{{1e-6, 1e-9}, {5e-6, 1e-10}}, {4096}};
  expect_truth(fit_segments(measure(two)), two, 1e-6);
  const Truth four{{{1e-6, 1e-9}, {2e-6, 5e-10}, {6e-6, 2e-10}, {4e-5, 5e-11}}, {128, 4096, 131072}};
  expect_truth(fit_segments(measure(four)), four, 1e-6);
}

TEST(FitSegments, SeesNarrowProtocolsOnceThereAreSizesBesideTheUnexplained) {
  const Truth socket{{{7.47e-7, 2.14e-10}, {2.08e-6, 1.13e-10}, {7.09e-6, 7.36e-11}}, {4096, 8192}};
  const Truth node{{{7.99e-7, 2.37e-10}, {1.66e-6, 1.48e-10}, {3.34e-6, 6.28e-11}}, {512, 1000}};
  // Of its second one so few that a line through them and their neighbours is off by 3 % mostly.
  const Truth crossing{{{6.21e-7, 3.89e-10}, {1.26e-6, 1.62e-10}, {2.44e-6, 8.32e-11}}, {8192, 20000}};
  for (const auto& truth : {socket, node, crossing}) {
    auto points = measure(truth);
    auto segments = fit_segments(points);
    int rounds = 0;
    for (; rounds < 3; ++rounds) {
      const auto more = sizes_beside_unexplained(points, segments);
      if (more.empty()) break;
      EXPECT_LE(more.size(), 16U);
      EXPECT_TRUE(std::ranges::is_sorted(more));
      for (const Bytes size : more) points.push_back({size, truth.at(size)});
      std::ranges::sort(points, {}, &SizePoint::bytes);
      segments = fit_segments(points);
    }
    EXPECT_GT(rounds, 0) << "an octave holds too few of 46 sizes";
    ASSERT_EQ(segments.size(), 3U);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      expect_near(segments[i].line.alpha_s, truth.lines[i].alpha_s, 1e-6, "alpha");
      expect_near(segments[i].line.beta_s_per_byte, truth.lines[i].beta_s_per_byte, 1e-6, "beta");
      if (i + 1 == segments.size()) continue;
      EXPECT_LE(segments[i].max_bytes, truth.limits[i]);
    }
    EXPECT_TRUE(sizes_beside_unexplained(points, segments).empty());
  }
}

TEST(FitSegments, AskForNoSizesWhereNoiseExplainsTheErrors) {
  const auto points = measure(three_protocols, Noise(7, 0.015));
  EXPECT_TRUE(sizes_beside_unexplained(points, fit_segments(points)).empty());
  EXPECT_TRUE(sizes_beside_unexplained(measure(three_protocols), fit_segments(measure(three_protocols))).empty());
}

/// The largest relative error of the fit at the sizes that were measured.
double largest_error(const std::vector<Segment>& segments, const Truth& truth) {
  double largest = 0;
  for (const Bytes size : sizes()) {
    std::size_t i = 0;
    while (i + 1 < segments.size() && size > segments[i].max_bytes) ++i;
    largest = std::max(largest, std::abs(segments[i].line.at(size) / truth.at(size) - 1));
  }
  return largest;
}

constexpr unsigned seeds = 20;

TEST(FitSegments, FindsTheTruthBehindNoise) {
  unsigned three = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto segments = fit_segments(measure(three_protocols, Noise(seed, 0.02)));
    EXPECT_LT(largest_error(segments, three_protocols), 0.06) << "three deviations";
    expect_near(segments.front().line.alpha_s, 1e-6, 0.05, "alpha of the first");
    expect_near(segments.back().line.beta_s_per_byte, 1e-10, 0.05, "beta of the last");
    three += segments.size() == three_protocols.lines.size();
  }
  EXPECT_GE(three, seeds * 9 / 10) << "noise is seldom taken for a protocol";
}

TEST(FitSegments, FindsTheTruthBehindNoiseAndOutliers) {
  unsigned three = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto points = measure(three_protocols, Noise(seed, 0.02));
    points[3 + seed % 10].seconds *= 1.5;
    points[20 + seed % 20].seconds *= 2;
    const auto segments = fit_segments(points);
    EXPECT_LT(largest_error(segments, three_protocols), 0.06) << "three deviations";
    expect_near(segments.front().line.alpha_s, 1e-6, 0.05, "alpha of the first");
    expect_near(segments.back().line.beta_s_per_byte, 1e-10, 0.05, "beta of the last");
    three += segments.size() == three_protocols.lines.size();
  }
  EXPECT_GE(three, seeds * 9 / 10);
}

/// Times that are longer by a factor at two sizes of five, as where two processes are near each other in some launches
/// and far in others.
std::vector<SizePoint> measure_bimodal(const Truth& truth, unsigned seed, double factor) {
  std::mt19937 random(seed);
  const auto number = [&] { return (static_cast<double>(random()) + 1) / 4294967297.0; };
  constexpr double noise = 0.01, slow = 0.4;
  std::vector<SizePoint> points;
  for (const Bytes size : sizes()) {
    const double late = 1 - noise * std::log(number());
    points.push_back({size, truth.at(size) * late * (number() < slow ? factor : 1)});
  }
  return points;
}

TEST(FitSegments, TakesNoMoreProtocolsThanPredictSizesThatWereNotFitted) {
  const Truth one{{{1e-6, 1e-10}}, {}};
  for (const double factor : {1.3, 2.0}) {
    unsigned more = 0;
    for (unsigned seed = 1; seed <= 2 * seeds; ++seed)
      more += fit_segments(measure_bimodal(one, seed, factor)).size() > 1;
    EXPECT_LE(more, 2 * seeds / 5) << factor << " times as long: the information criterion alone takes more for half";
  }
}

TEST(FitSegments, ReportsIntervalsThatHoldTheFit) {
  const auto segments = fit_segments(measure(three_protocols, Noise(3, 0.02)));
  for (const auto& segment : segments) {
    EXPECT_LE(segment.alpha_interval.low, segment.alpha_interval.high);
    EXPECT_LT(segment.alpha_interval.low, 1.02 * segment.line.alpha_s);
    EXPECT_GT(segment.alpha_interval.high, 0.98 * segment.line.alpha_s);
    EXPECT_GT(segment.beta_interval.high, 0.98 * segment.line.beta_s_per_byte);
    EXPECT_GT(segment.median_relative_error, 0.001);
    EXPECT_LT(segment.median_relative_error, 0.05);
  }
}

TEST(FitSegments, NeedsFourSizesForASegment) {
  // The last one to three sizes jump: too few to be a protocol of their own.
  for (const std::size_t jumping : {1U, 2U, 3U}) {
    auto points = measure({{{1e-6, 1e-10}}, {}});
    for (std::size_t i = points.size() - jumping; i < points.size(); ++i) points[i].seconds *= 3;
    for (const auto& segment : fit_segments(points)) EXPECT_GE(segment.sizes, 4U) << jumping;
  }
  auto points = measure({{{1e-6, 1e-10}}, {}});
  for (std::size_t i = points.size() - 5; i < points.size(); ++i) points[i].seconds *= 3;
  const auto segments = fit_segments(points);
  ASSERT_EQ(segments.size(), 2U) << "five are enough";
  EXPECT_EQ(segments.back().sizes, 5U);
}

TEST(FitSegments, MakesOneSegmentOfFewSizes) {
  for (std::size_t count = 1; count <= 7; ++count) {
    auto points = measure(three_protocols);
    points.resize(count);
    const auto segments = fit_segments(points);
    ASSERT_EQ(segments.size(), 1U) << count;
    EXPECT_EQ(segments[0].sizes, count);
    EXPECT_EQ(segments[0].max_bytes, points.back().bytes);
  }
}

/// T(m) = first + step·m + γ·m²/2.
std::vector<double> burst(const std::vector<double>& messages, double first, double step, double gamma, Noise noise) {
  std::vector<double> seconds;
  for (const double m : messages) seconds.push_back((first + step * m + gamma * m * m / 2) * noise());
  return seconds;
}

const std::vector<double> counts{8, 12, 16, 24, 32};

TEST(FitStep, FindsTheStepAndTheQueue) {
  for (const double gamma : {0.0, 2e-8}) {
    const auto seconds = burst(counts, 2e-6, 3e-7, gamma, Noise(1, 0));
    EXPECT_NEAR(fit_gamma(counts, seconds), gamma, 1e-14);
    expect_near(fit_step(counts, seconds, gamma).value, 3e-7, 1e-6, "step");
  }
}

TEST(FitStep, FindsBothBehindNoise) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    expect_near(fit_gamma(counts, burst(counts, 2e-6, 3e-7, 2e-7, Noise(seed, 0.005))), 2e-7, 0.15, "gamma");
    expect_near(fit_step(counts, burst(counts, 2e-6, 3e-7, 0, Noise(seed, 0.01)), 0).value, 3e-7, 0.1, "step");
  }
}

TEST(FitStep, LeavesOutWhatFewMessagesTakeUntilAllAreBusy) {
  const std::vector<double> many{1, 2, 4, 8, 16, 32};
  auto seconds = burst(many, 2e-6, 3e-7, 0, Noise(1, 0));
  for (auto& each : seconds) each = std::max(each, 4.4e-6);  // as of eight messages
  EXPECT_EQ(fit_gamma(many, seconds), 0);
  expect_near(fit_step(many, seconds, 0).value, 3e-7, 1e-6, "step");
}

TEST(FitStep, TakesNoiseForNoQueue) {
  int taken = 0;
  for (unsigned seed = 1; seed <= 100; ++seed)
    taken += fit_gamma(counts, burst(counts, 2e-6, 3e-7, 0, Noise(seed, 0.02))) > 0;
  EXPECT_LE(taken, 12) << "t > 3 with two degrees of freedom happens in 5 % by chance";
}

TEST(FitStep, GivesNothingNegative) {
  const std::vector<double> falling{5e-6, 4e-6, 3e-6, 2e-6, 1e-6};
  EXPECT_EQ(fit_step(counts, falling, 0).value, 0);
  EXPECT_EQ(fit_gamma(counts, falling), 0);
}

/// T(k) = max(T(1), α + k·bytes / rate).
std::vector<double> shared(const std::vector<int>& pairs, Seconds alpha_s, double beta, double rate, Bytes bytes,
                           Noise noise) {
  std::vector<double> seconds;
  const auto size = static_cast<double>(bytes);
  for (const int k : pairs) seconds.push_back(std::max(alpha_s + beta * size, alpha_s + k * size / rate) * noise());
  return seconds;
}

const std::vector<int> pair_counts{1, 2, 3, 4, 6, 8, 12};
constexpr Bytes megabyte = 1 << 20;

TEST(FitSharedRate, FindsTheRate) {
  const double rate = 2.4e10, beta = 1e-10;  // two pairs stay below it
  expect_near(
      fit_shared_rate(pair_counts, shared(pair_counts, 5e-6, beta, rate, megabyte, Noise(1, 0)), megabyte, 5e-6), rate,
      1e-9, "rate");
  for (unsigned seed = 1; seed <= 10; ++seed)
    expect_near(fit_shared_rate(pair_counts, shared(pair_counts, 5e-6, beta, rate, megabyte, Noise(seed, 0.02)),
                                megabyte, 5e-6),
                rate, 0.03, "rate");
}

TEST(FitSharedRate, IsWithoutLimitIfTheTimeDoesNotGrow) {
  for (unsigned seed = 1; seed <= 10; ++seed)
    EXPECT_TRUE(std::isinf(fit_shared_rate(
        pair_counts, shared(pair_counts, 5e-6, 1e-10, 1e13, megabyte, Noise(seed, 0.01)), megabyte, 5e-6)));
}

/// The times of exchanges of m messages, and of the same with something added.
CallFit fitted_call(Seconds call_s, Seconds message_s, Noise noise) {
  const std::vector<double> messages{1, 2, 4, 8, 16, 32};
  std::vector<double> seconds, other;
  for (const double m : messages) {
    const double direct = 5e-7 + 2e-7 * m;
    other.push_back(direct * noise());
    seconds.push_back((direct + call_s + message_s * m) * noise());
  }
  return fit_call(messages, seconds, other);
}

TEST(FitCall, FindsTheCallAndItsMessagesWhetherTheyCostOrSave) {
  for (const double sign : {1, -1}) {
    const auto exact = fitted_call(sign * 3e-7, sign * 5e-8, Noise(1, 0));
    EXPECT_NEAR(exact.call_s, sign * 3e-7, 1e-13);
    EXPECT_NEAR(exact.message_s, sign * 5e-8, 1e-14);
  }
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto fit = fitted_call(2e-6, 1e-7, Noise(seed, 0.01));
    expect_near(fit.call_s, 2e-6, 0.1, "call");
    expect_near(fit.message_s, 1e-7, 0.2, "message");
  }
}

TEST(FitCall, TakesNoNoiseForACost) {
  constexpr int rounds = 20, rare = 3;  // |t| is above 3 in 4 % of the cases with four degrees of freedom
  int calls = 0, messages = 0;
  for (unsigned seed = 1; seed <= rounds; ++seed) {
    const auto fit = fitted_call(0, 0, Noise(seed, 0.02));
    calls += fit.call_s != 0;
    messages += fit.message_s != 0;
  }
  EXPECT_LE(calls, rare);
  EXPECT_LE(messages, rare);
}

TEST(FitCall, BelievesThatALibrarySavesTimeOnlyWhereNoiseDoesNotSaySo) {
  constexpr int rounds = 400;
  int saved = 0;
  for (unsigned seed = 1; seed <= rounds; ++seed) {
    const auto fit = fitted_call(0, 0, Noise(seed, 0.05));
    saved += fit.call_s < 0 || fit.message_s < 0;
  }
  EXPECT_LE(saved, 4) << "t below -3 would believe it in some 25 of these cases";
  EXPECT_LT(fitted_call(-3e-7, -5e-8, Noise(1, 0.001)).message_s, -4e-8) << "but a real difference is found";
}

TEST(LowerQuartile, IsHeldByItsIntervalNineteenTimesOfTwenty) {
  std::mt19937 random(11);
  int held = 0;
  constexpr int rounds = 1000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> sample;
    for (int i = 0; i < 31; ++i)
      sample.push_back(static_cast<double>(random()) / 4294967296.0);  // that of the distribution is a quarter
    const auto interval = lower_quartile_interval(sample);
    EXPECT_LE(interval.low, lower_quartile(sample));
    EXPECT_GE(interval.high, lower_quartile(sample));
    held += interval.low <= 0.25 && 0.25 <= interval.high;
  }
  EXPECT_GE(held, rounds * 0.94);
  EXPECT_LE(held, rounds * 0.995) << "an interval that always holds is too wide";
}

TEST(LowerQuartile, DoesNotMindThatMoreThanHalfOfTheSamplesAreLate) {
  EXPECT_EQ(lower_quartile({7}), 7);
  EXPECT_EQ(lower_quartile({9, 1, 10, 8, 1.01, 12, 11, 9, 1.02}), 1.02);
}

TEST(Outliers, LieFarAboveTheThirdQuartile) {
  std::vector<double> sample;
  for (int i = 0; i < 100; ++i) sample.push_back(10 + i % 10);
  EXPECT_EQ(count_outliers(sample), 0);
  sample.push_back(100);
  sample.push_back(200);
  EXPECT_EQ(count_outliers(sample), 2);
  sample.push_back(0.001);
  EXPECT_EQ(count_outliers(sample), 2) << "below is no outlier";
}

}  // namespace
}  // namespace commpass
