// What times of trials prove, and when they are over.
#include "selector/choose/trial_timer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "model/support.hpp"

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

using Times = std::vector<std::vector<Seconds>>;  // round after round of each contender

/// Runs the rounds whose times are given, after a warm one with those of the first. @return the order of each round
std::vector<std::vector<std::size_t>> run(TrialTimer& trials, const Times& times) {
  std::vector<std::vector<std::size_t>> orders;
  for (std::size_t round = 0; round <= times.front().size() && !trials.is_over(); ++round) {
    orders.emplace_back();
    for (bool is_end = false; !is_end;) {
      const auto next = trials.next();
      orders.back().push_back(next);
      is_end = trials.note(times[next][round > 0 ? round - 1 : 0]);
    }
    trials.end_round();
  }
  return orders;
}

constexpr TrialBounds all_of_six{.rounds_min = 6, .rounds_max = 6};

TEST(TrialTimer, TakesTheContenderThatIsFasterInEveryRound) {
  TrialTimer trials(4, all_of_six);
  run(trials, {{10, 20, 30, 10, 20, 30}, {11, 22, 33, 11, 22, 33}, {8, 16, 24, 8, 16, 24}, {9, 18, 27, 9, 18, 27}});
  EXPECT_TRUE(trials.is_over());
  EXPECT_EQ(trials.fastest(), 2U);
  EXPECT_NEAR(trials.ratio(2).median, 0.8, 1e-12);
  EXPECT_EQ(trials.rounds(), 6U) << "without the warm one";
  EXPECT_EQ(trials.times(0).size(), 6U);
}

TEST(TrialTimer, KeepsTheBaselineWhereThereIsDoubt) {
  TrialTimer doubtful(2, {.rounds_max = 7});  // faster by the median, but not in enough rounds
  run(doubtful, {{10, 10, 10, 10, 10, 10, 10}, {5, 5, 5, 5, 11, 11, 5}});
  EXPECT_EQ(doubtful.rounds(), 7U);
  EXPECT_EQ(doubtful.fastest(), 0U);
  TrialTimer few(2, {.rounds_max = 5});
  run(few, {{10, 10, 10, 10, 10}, {1, 1, 1, 1, 1}});
  EXPECT_EQ(few.fastest(), 0U) << "too few rounds";
  TrialTimer alone(1);
  EXPECT_TRUE(alone.is_over());
  EXPECT_EQ(alone.fastest(), 0U);
}

TEST(TrialTimer, ComparesOnlyRoundsInWhichBothRan) {
  TrialTimer trials(3, {.rounds_min = 9, .rounds_max = 9});
  run(trials, {{10, 10, 10, 10, 10, 10}, {5, 5, 5, 5, 5, 5}, {9, 9, 9, 9, 9, 9}});
  for (; !trials.is_over(); trials.end_round())
    while (!(trials.next() == 1 ? trials.drop_next() : trials.note(1))) {}
  EXPECT_EQ(trials.ratio(1).median, 0.5);
  EXPECT_EQ(trials.times(1).size(), 6U);
  EXPECT_EQ(trials.fastest(), 0U) << "it cannot run any more";
}

TEST(TrialTimer, RunsEachOnceInARoundInAnotherOrder) {
  const std::vector<Seconds> same(20, 1);
  TrialTimer trials(4, {.rounds_min = 20, .rounds_max = 20});
  auto orders = run(trials, {same, same, same, same});
  EXPECT_GT(std::set(orders.begin(), orders.end()).size(), 10U);
  for (auto& order : orders) {
    std::ranges::sort(order);
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
  }
  TrialTimer of_two(2, all_of_six);
  const auto turns = run(of_two, {same, same});
  for (std::size_t round = 1; round < turns.size(); ++round) EXPECT_NE(turns[round], turns[round - 1]);
}

TEST(TrialTimer, DropsTheSlowestThatWouldLoseTooMuch) {
  const auto runners = [](const TrialBounds& bounds) {
    TrialTimer trials(4, bounds);
    return run(trials, {{20, 20}, {10, 10}, {100, 100}, {30, 30}}).back().size();
  };
  EXPECT_EQ(runners({}), 4U);
  // In 7 rounds beyond the fastest: 630 s of the third one, and 140 s of the fourth one.
  EXPECT_EQ(runners({.loss_max_s = 770}), 4U);
  EXPECT_EQ(runners({.loss_max_s = 769}), 3U);
  EXPECT_EQ(runners({.loss_max_s = 139}), 2U) << "the baseline runs anyway";
  EXPECT_EQ(runners({.loss_max_s = 1119, .loss = TrialLoss::whole}), 3U);
  EXPECT_EQ(runners({.loss_max_s = 209, .loss = TrialLoss::whole}), 4U) << "the warm round alone";
}

TEST(TrialTimer, EndsWhenTheTimeIsLost) {
  const std::vector<Seconds> fast(50, 1), slow(50, 2);
  TrialTimer trials(2, {.rounds_min = 2, .loss_max_s = 3.5});
  run(trials, {slow, fast});
  EXPECT_EQ(trials.rounds(), 4U);
}

TEST(TrialTimer, EndsAsSoonAsOneIsTheFastest) {
  const std::vector<Seconds> usual(50, 3), fast(50, 1), slow(50, 4);
  TrialTimer trials(3);
  run(trials, {usual, slow, fast});
  EXPECT_EQ(trials.rounds(), 7U);
  EXPECT_EQ(trials.fastest(), 2U);
}

TEST(TrialTimer, TakesSamplesOfShortExchanges) {
  const auto warmed_up = [](Seconds exchange_s, Seconds loss_max_s) {
    TrialTimer trials(2, {.warm_rounds = 2, .loss_max_s = loss_max_s, .loss = TrialLoss::whole, .sample_s = 100e-6});
    for (const auto seconds : {1.0, exchange_s}) {  // the first round plans
      for (int i = 0; i < 2; ++i) trials.note(seconds);
      trials.end_round();
    }
    return trials;
  };
  EXPECT_EQ(warmed_up(10e-6, 1).exchanges(), 10);
  EXPECT_EQ(warmed_up(1e-3, 1).exchanges(), 1);
  EXPECT_EQ(warmed_up(0, 1).exchanges(), 200);
  // 7 rounds of 10 exchanges of two contenders take 1.4 ms.
  EXPECT_FALSE(warmed_up(10e-6, 1.41e-3).is_over());
  EXPECT_TRUE(warmed_up(10e-6, 1.39e-3).is_over()) << "the second one does not fit into the time";
}

TEST(TrialTimer, BeginsAnew) {
  const std::vector<Seconds> fast(6, 1), slow(6, 2);
  TrialTimer trials(2, all_of_six);
  for (int turn = 0; turn < 2; ++turn) {
    run(trials, {slow, fast});
    EXPECT_TRUE(trials.is_over());
    EXPECT_EQ(trials.fastest(), 1U);
    trials.restart();
    EXPECT_FALSE(trials.is_over());
    EXPECT_TRUE(trials.times(1).empty());
  }
}

TEST(TrialTimer, CutsAContenderThatIsMuchSlowerInOneRound) {
  TrialTimer trials(3, {.rounds_min = 6, .rounds_max = 6, .cut_ratio = 4});
  run(trials, {std::vector<Seconds>(6, 2), std::vector<Seconds>(6, 1), std::vector<Seconds>(6, 5)});
  EXPECT_FALSE(trials.is_running(2));
  EXPECT_TRUE(trials.times(2).empty());
  EXPECT_EQ(trials.fastest(), 1U);
}

TEST(TrialTimer, CutsItAfterAsManyRoundsInARowAsAreAskedFor) {
  TrialTimer trials(3, {.rounds_min = 6, .rounds_max = 6, .cut_ratio = 4, .cut_rounds = 2});
  run(trials, {std::vector<Seconds>(6, 2), {1, 9, 1, 9, 1, 9}, {1, 9, 9, 1, 1, 1}});
  EXPECT_TRUE(trials.is_running(1));
  EXPECT_EQ(trials.times(1).size(), 6U);
  EXPECT_FALSE(trials.is_running(2));
  EXPECT_EQ(trials.times(2).size(), 2U);
}

TEST(TrialTimer, DoesNotCutTheBaseline) {
  TrialTimer trials(2, {.rounds_min = 6, .rounds_max = 6, .cut_ratio = 4});
  run(trials, {std::vector<Seconds>(6, 9), std::vector<Seconds>(6, 1)});
  EXPECT_TRUE(trials.is_running(0));
  EXPECT_EQ(trials.times(0).size(), 6U);
  EXPECT_EQ(trials.fastest(), 1U);
}

TEST(PlannerModes, HaveNames) {
  for (const auto mode : {PlannerMode::estimate, PlannerMode::adaptive, PlannerMode::measure, PlannerMode::patient})
    EXPECT_EQ(parse_planner_mode(name_of(mode)), mode);
  expect_sentence(error_of([] { parse_planner_mode("exhaustive"); }),
                  {"planner exhaustive", "use estimate, adaptive, measure or patient"});
  for (const double seconds : {0., -1., infinite, std::numeric_limits<double>::quiet_NaN()})
    expect_sentence(error_of([&] { check_planner_seconds(seconds); }), {"planner_seconds", "use a number of seconds"});
}

}  // namespace
}  // namespace commpass
