// What times taken in turn prove.
#include "selector/choose/measured_choice.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "model/support.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> first_numbers(int count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.rbegin(), numbers.rend(), 1.);
  return numbers;
}

// Tables of the sign test, such as Conover, Practical Nonparametric Statistics.
TEST(MedianInterval, HasTheRanksOfTheSignTest) {
  struct Known {
    int count;
    double low, high;
  };
  for (const auto& [count, low, high] :
       {Known{1, 0, infinite}, Known{5, 0, infinite}, Known{6, 1, 6}, Known{8, 1, 8}, Known{9, 2, 8}, Known{10, 2, 9},
        Known{20, 6, 15}, Known{50, 18, 33}, Known{100, 40, 61}, Known{1000, 469, 532}}) {
    const auto interval = exact_median_interval(first_numbers(count));
    EXPECT_EQ(interval.low, low) << count;
    EXPECT_EQ(interval.high, high) << count;
    EXPECT_EQ(interval.median, (count + 1) / 2.) << count;
  }
}

TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> noise(0, 1);  // its median is 1
  constexpr int cases = 2000, numbers = 31;
  int outside = 0;
  for (int i = 0; i < cases; ++i) {
    std::vector<double> drawn;
    for (int n = 0; n < numbers; ++n) drawn.push_back(noise(random));
    const auto interval = exact_median_interval(drawn);
    if (interval.low > 1 || interval.high < 1) ++outside;
  }
  EXPECT_LE(outside, cases / 20);
  EXPECT_GT(outside, cases / 100);
}

TEST(MeasuredChoice, TakesTheStrategyThatIsFasterInEveryRound) {
  const std::vector<std::vector<Seconds>> seconds{
      {10, 20, 30, 10, 20, 30}, {11, 22, 33, 11, 22, 33}, {8, 16, 24, 8, 16, 24}, {9, 18, 27, 9, 18, 27}};
  const auto ratios = ratios_to_first(seconds);
  EXPECT_EQ(fastest_beyond_doubt(ratios), 2U);
  EXPECT_NEAR(ratios[2].median, 0.8, 1e-12);
  EXPECT_TRUE(is_beaten(ratios, 1) && is_beaten(ratios, 3));
  EXPECT_FALSE(is_beaten(ratios, 2) || is_beaten(ratios, 0)) << "the baseline is never out of the race";
}

TEST(MeasuredChoice, KeepsTheBaselineWhereThereIsDoubt) {
  // Faster by the median, but not in enough rounds.
  EXPECT_EQ(fastest_beyond_doubt(ratios_to_first(
                std::vector<std::vector<Seconds>>{{10, 10, 10, 10, 10, 10, 10}, {5, 5, 5, 5, 11, 11, 5}})),
            0U);
  EXPECT_EQ(
      fastest_beyond_doubt(ratios_to_first(std::vector<std::vector<Seconds>>{{10, 10, 10, 10, 10}, {1, 1, 1, 1, 1}})),
      0U)
      << "too few rounds";
  EXPECT_EQ(fastest_beyond_doubt(ratios_to_first(std::vector<std::vector<Seconds>>{{}, {}})), 0U);
}

TEST(MeasuredChoice, ComparesOnlyRoundsInWhichBothRan) {
  const auto ratios =
      ratios_to_first(std::vector<std::vector<Seconds>>{{10, 10, 10, 10, 10, 10, 1, 1, 1}, {5, 5, 5, 5, 5, 5}});
  EXPECT_EQ(ratios[1].median, 0.5);
  EXPECT_EQ(fastest_beyond_doubt(ratios), 1U);
}

TEST(PlannerModes, HaveNames) {
  for (const auto mode : {PlannerMode::estimate, PlannerMode::measure, PlannerMode::patient})
    EXPECT_EQ(parse_planner_mode(name_of(mode)), mode);
  expect_sentence(error_of([] { parse_planner_mode("exhaustive"); }),
                  {"planner exhaustive", "use estimate, measure or patient"});
  for (const double seconds : {0., -1., infinite, std::numeric_limits<double>::quiet_NaN()})
    expect_sentence(error_of([&] { check_planner_seconds(seconds); }), {"planner_seconds", "use a number of seconds"});
}

}  // namespace
}  // namespace commpass
