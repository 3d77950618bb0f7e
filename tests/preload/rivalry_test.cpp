#include "selector/choose/rivalry.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "preload/report.hpp"
#include "selector/choose/trial_budget.hpp"

namespace commpass {
namespace {

/// The number of calls by turn.
struct Count {
  int library = 0, ours = 0, both = 0;
};
/// @param ratio  of the time of our way to the library's
Count run(Rivalry& rivalry, int calls, double ratio) {
  Count count;
  for (int i = 0; i < calls; ++i) switch (rivalry.next()) {
      case Rivalry::Turn::library: ++count.library; break;
      case Rivalry::Turn::ours: ++count.ours; break;
      case Rivalry::Turn::both:
        ++count.both;
        rivalry.add(1e-6, ratio * 1e-6, ratio * 1e-6);
        break;
    }
  return count;
}

TEST(Rivalry, LeavesTheFirstCallsToTheLibraryWithoutAsking) {
  Rivalry rivalry;
  EXPECT_EQ(run(rivalry, Rivalry::calls_before, 0.5).library, Rivalry::calls_before);
  EXPECT_EQ(rivalry.next(), Rivalry::Turn::both);
}

TEST(Rivalry, LeavesTheLibraryAsManyCallsAsToldBeforeTheFirstTrial) {
  Rivalry of_short_lived(16);
  for (int call = 0; call < 16; ++call) EXPECT_EQ(of_short_lived.next(), Rivalry::Turn::library);
  EXPECT_EQ(of_short_lived.next(), Rivalry::Turn::both);
}

TEST(RivalryTurns, TellAheadWhoRuns) {
  constexpr Seconds long_s = 1e-2;  // trials are affordable from the first calls on
  const auto told = [](double calls, double ratio, Seconds library_s) {
    return turns_of(calls, {library_s, ratio * library_s, 0});
  };
  for (const double ratio : {0.5, 1.5}) {
    const auto few = told(2, ratio, long_s);
    EXPECT_EQ(few.library, 2);
    EXPECT_EQ(few.opening_s, 0);
    const auto many = told(1e9, ratio, long_s);
    EXPECT_EQ(many.library + many.ours + many.both, 1e9);
    EXPECT_GE(many.both, Rivalry::pairs + 1);
    EXPECT_GT(ratio < 1 ? many.ours : many.library, 0.9e9);
    EXPECT_GT(many.opening_s, 0);
  }
  EXPECT_EQ(told(1000, 0.5, 1e-6).library, 1000) << "a program of a millisecond affords no trial";
  EXPECT_DOUBLE_EQ(told(1.5, 0.5, long_s).library, 1.5);
}

// Of the time of 10 000 calls, whatever they take, and however slow ours is.
TEST(RivalryTurns, LoseAHundredthAndWhatAProgramOfSecondsDoesNotNotice) {
  constexpr double calls = 10'000;
  for (const Seconds library_s : {137e-9, 2e-6, 20e-6, 100e-6, 1e-3, 10e-3})
    for (const double ratio : {0.5, 1.0, 1.3, 4.0, 100.0}) {
      const Seconds agreement_s = 1e-6, ours_s = ratio * library_s;
      const auto turns = turns_of(calls, {library_s, ours_s, agreement_s});
      const auto lost_s = turns.opening_s + turns.both * (ours_s + agreement_s);
      const auto in_calls_s = turns.library * library_s + turns.ours * ours_s + turns.both * library_s + lost_s;
      // What the first trial of all takes is not known before.
      EXPECT_LE(lost_s, TrialBudget::allowance_s + TrialBudget::default_share * in_calls_s + 2 * (ours_s + agreement_s))
          << library_s << " s, ratio " << ratio;
      if (turns.both > Rivalry::pairs + 1 && ratio < 1) {
        EXPECT_GT(turns.ours, calls / 2);
      }
    }
  EXPECT_EQ(turns_of(calls, {137e-9, 1e-6, 1e-6}).library, calls) << "shorter than what opening a communicator takes";
}

TEST(Rivalry, GivesCallsToTheFaster) {
  for (const double ratio : {0.5, 1.5}) {
    Rivalry rivalry;
    const auto first = run(rivalry, 40, ratio);
    EXPECT_EQ(first.both, Rivalry::pairs + 1) << "one plans";
    EXPECT_EQ(first.ours, ratio < 1 ? 40 - Rivalry::calls_before - Rivalry::pairs - 1 : 0);
    EXPECT_DOUBLE_EQ(rivalry.ratio().median, ratio);
  }
}

TEST(Rivalry, LeavesTheCallsToTheLibraryWhereOursIsNotFasterBeyondDoubt) {
  Rivalry rivalry;
  run(rivalry, Rivalry::calls_before, 1);
  for (int i = 0; i <= Rivalry::pairs; ++i) run(rivalry, 1, i % 3 == 0 ? 1.2 : 0.95);
  EXPECT_LT(rivalry.ratio().median, 1);
  EXPECT_GT(rivalry.ratio().high, 1);
  EXPECT_EQ(run(rivalry, 20, 0.5).ours, 0);
}

TEST(Rivalry, DoesNotCountTheCallThatPlans) {
  Rivalry rivalry;
  run(rivalry, Rivalry::calls_before, 1);
  ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
  rivalry.add(1e-6, 1, 1);
  EXPECT_EQ(rivalry.trial_loss_s(), 0) << "nor what it lost";
  EXPECT_GT(run(rivalry, 20, 0.9).ours, 0);
  EXPECT_DOUBLE_EQ(rivalry.ratio().median, 0.9);
}

TEST(Rivalry, IsNotDecidedByOneOutlier) {
  Rivalry rivalry;
  run(rivalry, Rivalry::calls_before + 3, 0.9);
  ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
  rivalry.add(1e-6, 1, 1);
  EXPECT_GT(run(rivalry, 20, 0.9).ours, 0);
}

TEST(Rivalry, AsksAgainSeldomAndHeedsTheAnswer) {
  Rivalry rivalry;
  run(rivalry, Rivalry::growth * (Rivalry::calls_before + Rivalry::pairs + 1), 0.5);
  const auto later = run(rivalry, 300, 2.0);
  EXPECT_EQ(later.both, Rivalry::pairs + 1) << "after eight times as many calls";
  EXPECT_GT(later.library, 280);
  EXPECT_EQ(later.ours, 0);
  Rivalry always;
  EXPECT_LE(run(always, 100000, 0.5).both, 6 * (Rivalry::pairs + 1)) << "ever more seldom";
}

TEST(Rivalry, EndsWhereOurWayIsTheLibrarysCall) {
  Rivalry rivalry;
  run(rivalry, Rivalry::calls_before, 1);
  for (int i = 0; i < 2; ++i) {  // the sizes of the first one may be new
    ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
    rivalry.leave();
  }
  EXPECT_EQ(run(rivalry, 20, 0.5).library, 20);
  EXPECT_EQ(rivalry.ratio().median, 0) << "of no comparison";
}

TEST(Rivalry, PostponesATrialThatIsNotAffordable) {
  Rivalry rivalry;
  run(rivalry, Rivalry::calls_before, 1);
  ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
  rivalry.postpone(100.5);
  EXPECT_EQ(run(rivalry, 101, 0.5).library, 101);
  ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
  rivalry.postpone(1);
  EXPECT_EQ(run(rivalry, 13, 0.5).library, 13) << "an eighth of 104 calls, so that ranks seldom agree";
  ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
  rivalry.postpone(std::numeric_limits<double>::infinity());
  EXPECT_EQ(run(rivalry, 1000, 0.5).library, 1000);
}

TEST(TrialBudget, IsAShareOfTheTimeInCalls) {
  TrialBudget budget;
  EXPECT_DOUBLE_EQ(budget.credit_s(0.01), TrialBudget::allowance_s);
  budget.spend(TrialBudget::allowance_s);
  EXPECT_DOUBLE_EQ(budget.credit_s(0.01), 0);
  budget.earn(2);
  EXPECT_NEAR(budget.credit_s(0.01), 0.02, 1e-12);
  budget.note_opening(0.05);
  EXPECT_NEAR(budget.credit_s(0.01), -0.03, 1e-12);
  EXPECT_EQ(budget.opening_s(), 0.05) << "of the next communicator";
}

TEST(ReportOfInterposedCalls, SaysThatNothingWasTakenOver) {
  std::map<int, PastCalls> calls;
  EXPECT_EQ(nothing_taken_over(calls),
            "commpass: nothing was taken over: rank 0 called none of MPI_Alltoall(v,w), MPI_Neighbor_allgather(v), "
            "MPI_Neighbor_alltoall(v,w), and these with _init.\n");
  calls[2].records[InterposedCall::ialltoall].by_library = 4;
  EXPECT_NE(nothing_taken_over(calls).find("called none"), std::string::npos) << "those that only start an exchange";
  auto& record = calls[4].records[InterposedCall::alltoallv];
  record.by_library = 3;
  EXPECT_EQ(nothing_taken_over(calls),
            "commpass: nothing was taken over: MPI ran all 3 calls of rank 0 that can be.\n");
  record.by_both = 1;
  EXPECT_EQ(nothing_taken_over(calls), "");
}

TEST(ReportOfInterposedCalls, HasARowForEachKindAndTheReasons) {
  std::map<int, PastCalls> calls;
  EXPECT_EQ(report_of(calls), "");
  auto& record = calls[4].records[InterposedCall::alltoallv];
  record.by_library = 2;
  record.by_ours = 7;
  record.by_both = 1;
  record.bytes = 1000;
  record.strategy = "two-step";
  calls[4].refusals.insert("it is an intercommunicator");
  calls[9].refusals.insert("no call was made there");
  const auto report = report_of(calls);
  EXPECT_NE(report.find("alltoallv                 4        10         2         7       1          100"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("two-step"), std::string::npos);
  EXPECT_NE(report.find("left to MPI on 4 ranks: it is an intercommunicator"), std::string::npos);
  EXPECT_EQ(report.find("no call was made"), std::string::npos);
}

TEST(ReportOfInterposedCalls, TellsOfMemoryThatIsFetchedAgainAndAgain) {
  constexpr Bytes resident = Bytes{64} << 20;
  constexpr std::int64_t pages = resident / 4096;
  EXPECT_EQ(page_fault_note(pages, resident, 0.1), "") << "all of it once";
  EXPECT_EQ(page_fault_note(100 * pages, resident, 1000), "") << "seldom";
  const auto note = page_fault_note(100 * pages, resident, 10);
  EXPECT_NE(note.find("rank 0 took 1638400 page faults, enough to fill its memory 100 times"), std::string::npos)
      << note;
  EXPECT_NE(note.find("MALLOC_TRIM_THRESHOLD_"), std::string::npos);
}

}  // namespace
}  // namespace commpass
