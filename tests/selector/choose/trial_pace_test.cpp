// The share of the time of calls that trials take, by invented times.
#include "selector/choose/trial_pace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace commpass {
namespace {

/// What calls of contenders take, and what ranks need to begin a trial and to tell each other its times.
struct TimedCalls {
  std::vector<Seconds> call_s;
  Seconds telling_s = 0, preparation_s = 0;
};

struct Outcome {
  double calls = 0, trials = 0;
  Seconds all_s = 0, extra_s = 0, untold_s = 0;  ///< extra: in trials; untold: of the calls that tell what one takes
  double share_max = 0;                          ///< of extra time, after any call
  bool is_over = false;
  std::size_t fastest = 0;
};

/// As many calls of a class; trials are over then or not. @param incumbent  runs calls that are no trials
Outcome run(double calls, const TimedCalls& machine, std::size_t incumbent = 0) {
  const auto contenders = machine.call_s.size();
  TrialTimer trials(contenders, TrialPace::bounds);
  TrialPace pace(contenders, incumbent, machine.preparation_s);
  auto left = TrialPace::calls_before;
  std::vector<bool> is_prepared(contenders);
  Outcome outcome;
  while (outcome.calls < calls) {
    const auto usual_s = machine.call_s[pace.incumbent()];
    if (trials.is_over() || left > 0) {
      const auto run =
          trials.is_over() ? calls - outcome.calls : std::min(static_cast<double>(left), calls - outcome.calls);
      outcome.calls += run;
      outcome.all_s += run * usual_s;
      left -= static_cast<std::int64_t>(run);
      continue;
    }
    ++outcome.calls;
    Seconds elapsed_s = machine.telling_s;
    if (!pace.knows_call()) {
      elapsed_s += usual_s;
      outcome.untold_s += machine.telling_s;
      outcome.all_s += elapsed_s;
      pace.add_elapsed(elapsed_s);
      pace.tell(std::span(&usual_s, 1));
      left = pace.end_call();
      continue;
    }
    ++outcome.trials;
    const auto own = trials.next();
    elapsed_s += machine.call_s[own] + (is_prepared[own] ? 0 : machine.preparation_s / static_cast<double>(contenders));
    is_prepared[own] = true;
    outcome.extra_s += std::max(elapsed_s - usual_s, 0.0);
    outcome.all_s += elapsed_s;
    pace.add_elapsed(elapsed_s);
    if (trials.note(machine.call_s[own])) {
      pace.tell(trials.round());
      left = pace.end_round(trials);
      outcome.share_max = std::max(outcome.share_max, outcome.extra_s / outcome.all_s);
      if (!trials.is_over() && !trials.is_running(pace.incumbent())) pace.replace_incumbent(trials.fastest());
    }
  }
  outcome.is_over = trials.is_over();
  outcome.fastest = trials.fastest();
  return outcome;
}

TEST(TrialPace, TakesAHundredthOfTheTimeOfCalls) {
  for (const Seconds library_s : {150e-9, 2e-6, 100e-6, 5e-3})
    for (const double ratio : {0.5, 1.0, 1.5, 3.0, 100.0})
      for (const Seconds preparation_s : {0.0, 1e-4}) {
        const auto outcome = run(1e7, {{library_s, 1.2 * library_s, ratio * library_s}, 2e-6, preparation_s});
        EXPECT_LT(outcome.share_max, ratio > 2 ? 1 : 0.0101)
            << library_s << " s, ratio " << ratio << ": what the first trial takes is not known before";
        EXPECT_LT(outcome.extra_s / outcome.all_s, 0.0101) << library_s << " s, ratio " << ratio;
        EXPECT_TRUE(outcome.is_over) << library_s << " s, ratio " << ratio;
        EXPECT_EQ(outcome.fastest, ratio < 1 ? 2 : 0) << library_s << " s, ratio " << ratio;
      }
}

TEST(TrialPace, LeavesShortProgramsAlone) {
  const auto outcome = run(10'000, {{150e-9, 1e-7}, 2e-6, 1e-4});
  EXPECT_EQ(outcome.trials, 0) << "they last 1.5 ms";
  EXPECT_LE(outcome.untold_s, 4e-6);
}

// A faster contender than the incumbent costs no extra time.
TEST(TrialPace, DoesNotWaitWhereContendersAreFaster) {
  const auto outcome = run(400, {{100e-6, 20e-6, 25e-6}, 1e-6});
  EXPECT_TRUE(outcome.is_over);
  EXPECT_EQ(outcome.fastest, 1U);
  EXPECT_LT(outcome.trials, 40);
}

TEST(TrialPace, TriesAContenderThatIsMuchSlowerOnce) {
  const auto outcome = run(1e6, {{1e-6, 1e-4, 1.1e-6}, 1e-7});
  EXPECT_TRUE(outcome.is_over);
  const auto without = run(1e6, {{1e-6, 1.1e-6}, 1e-7});
  EXPECT_EQ(outcome.trials, without.trials + 1);
}

/// Rounds of two contenders that begin anytime, and may be lengthened by late ranks. @return calls before each round
std::vector<std::int64_t> waits_before_rounds(std::int64_t calls_ahead, Seconds late_s) {
  TrialTimer trials(2, TrialPace::bounds_anytime);
  TrialPace pace(2, 0, 0, TrialPace::Begin::anytime, calls_ahead);
  std::vector<std::int64_t> waits;
  constexpr Seconds call_s = 1e-5, slower_s = 1.5e-5;
  for (int i = 0; i < TrialPace::timed_calls; ++i) {
    pace.tell(std::span(&call_s, 1));
    waits.push_back(pace.end_call());
  }
  for (int round = 0; round < 4; ++round) {
    while (!trials.note((trials.next() == 0 ? call_s : slower_s) + (round == 1 ? late_s : 0))) {}
    pace.tell(trials.round());
    waits.push_back(pace.end_round(trials));
  }
  return waits;
}

TEST(TrialPace, SpendsAShareOfCallsThatAreAhead) {
  // Each round loses half a call.
  EXPECT_THAT(waits_before_rounds(0, 0), testing::Each(testing::Le(200)));
  EXPECT_GT(waits_before_rounds(0, 0).back(), 0);
  EXPECT_THAT(waits_before_rounds(1000, 0), testing::Each(0));
}

TEST(TrialPace, IsNotMisledByARankThatIsLate) { EXPECT_EQ(waits_before_rounds(0, 1), waits_before_rounds(0, 0)); }

TEST(TrialPace, ReplacesAnIncumbentThatIsMuchSlower) {
  const auto outcome = run(1e5, {{1e-6, 1e-4, 1.1e-6}, 1e-7}, 1);
  EXPECT_TRUE(outcome.is_over);
  EXPECT_LT(outcome.all_s, 1e5 * 2e-6) << "it ran some calls";
}

}  // namespace
}  // namespace commpass
