// Lines that must not fall from one protocol to the next.
#include "calibrate/fit/switches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace commpass {
namespace {

/// Times of two protocols that switch at 4096 bytes, with errors up to `noise` to either side.
std::vector<SizePoint> measure(const Line& first, const Line& second, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<SizePoint> points;
  for (Bytes bytes = 16; bytes <= 1 << 20; bytes *= 2) {
    const auto& line = bytes <= 4096 ? first : second;
    const double error = noise * (static_cast<double>(random()) / 2147483648.0 - 1);
    points.push_back({bytes, line.at(bytes) * (1 + error)});
  }
  return points;
}

std::vector<Segment> segments_of(std::span<const SizePoint> points) {
  std::vector<Segment> segments(2);
  const auto below =
      static_cast<std::size_t>(std::ranges::upper_bound(points, Bytes{4096}, {}, &SizePoint::bytes) - points.begin());
  segments[0].max_bytes = 4096;
  segments[0].line = fit_line(points.first(below));
  segments[1].max_bytes = points.back().bytes;
  segments[1].line = fit_line(points.subspan(below));
  return segments;
}

double rise(std::span<const Line> lines) { return lines[1].at(4096) / lines[0].at(4096) - 1; }

TEST(Switches, LeaveLinesThatRiseAsTheyAre) {
  const auto points = measure({1e-6, 4e-10}, {4e-6, 1e-10}, 0.02, 1);
  const auto segments = segments_of(points);
  const auto lines = hold_at_switches(points, segments);
  EXPECT_EQ(lines[0].alpha_s, segments[0].line.alpha_s);
  EXPECT_EQ(lines[1].beta_s_per_byte, segments[1].line.beta_s_per_byte);
}

TEST(Switches, DoNotFallWhereNoiseAloneSaysSo) {
  int fell = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const auto points = measure({1e-6, 5e-10}, {1.1e-6, 4.8e-10}, 0.25, seed);  // as good as one line
    const auto segments = segments_of(points);
    const std::array before{segments[0].line, segments[1].line};
    const auto after = hold_at_switches(points, segments);
    fell += rise(before) < -0.05;
    EXPECT_GE(rise(after), -1e-9) << "seed " << seed;
    EXPECT_NEAR(after[1].beta_s_per_byte, 4.8e-10, 1.5e-10) << "seed " << seed;
    for (const auto& line : after) {
      EXPECT_GE(line.alpha_s, 0);
      EXPECT_GE(line.beta_s_per_byte, 0);
    }
  }
  EXPECT_GT(fell, 5) << "or nothing was held";
}

TEST(Switches, FallWhereTheTimesLeaveNoDoubt) {
  const auto points = measure({2e-6, 8e-10}, {1e-6, 2e-10}, 0.03, 2);  // 5.3 us before, 1.8 us after
  const auto segments = segments_of(points);
  EXPECT_LT(rise(hold_at_switches(points, segments)), -0.5);
}

}  // namespace
}  // namespace commpass
