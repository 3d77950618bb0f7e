#include "selector/choose/rivalry.hpp"

#include <gtest/gtest.h>

#include "preload/report.hpp"
#include "selector/choose/rivalry_turns.hpp"

namespace commpass {
namespace {

/// Runs so many calls, in which ours takes `ratio` times as long as the library. @return how many were run so
struct Count {
  int library = 0, ours = 0, both = 0;
};
Count run(Rivalry& rivalry, int calls, double ratio) {
  Count count;
  for (int i = 0; i < calls; ++i) switch (rivalry.next()) {
      case Rivalry::Turn::library: ++count.library; break;
      case Rivalry::Turn::ours: ++count.ours; break;
      case Rivalry::Turn::both:
        ++count.both;
        rivalry.add(1e-6, ratio * 1e-6);
        break;
    }
  return count;
}

TEST(Rivalry, LeavesTheFirstCallsToTheLibraryWithoutAsking) {
  Rivalry rivalry;
  EXPECT_EQ(run(rivalry, Rivalry::calls_before, 0.5).library, Rivalry::calls_before);
  EXPECT_EQ(rivalry.next(), Rivalry::Turn::both);
}

TEST(Rivalry, IsToldAheadByItsTurns) {
  for (const int calls : {0, 1, 2, 5, 9, 40, 3000})
    for (const double ratio : {0.5, 1.5}) {
      Rivalry rivalry;
      const auto ran = run(rivalry, calls, ratio);
      const auto told = turns_of(calls, ratio);
      EXPECT_EQ(told.library, ran.library) << calls << " calls, " << ratio;
      EXPECT_EQ(told.ours, ran.ours) << calls << " calls, " << ratio;
      EXPECT_EQ(told.both, ran.both) << calls << " calls, " << ratio;
    }
  EXPECT_DOUBLE_EQ(turns_of(2.5, 0.5).library, 2);
  EXPECT_DOUBLE_EQ(turns_of(2.5, 0.5).both, 0.5);
  constexpr double many = 1e12;
  EXPECT_GT(turns_of(many, 0.5).ours, 0.99 * many);
  EXPECT_GT(turns_of(many, 1.5).library, 0.99 * many);
}

TEST(Rivalry, GivesCallsToWhatIsFaster) {
  for (const double ratio : {0.5, 1.5}) {
    Rivalry rivalry;
    const auto first = run(rivalry, 40, ratio);
    EXPECT_EQ(first.both, Rivalry::pairs + 1) << "one plans";
    EXPECT_EQ(first.ours, ratio < 1 ? 40 - Rivalry::calls_before - Rivalry::pairs - 1 : 0);
    EXPECT_DOUBLE_EQ(rivalry.ratio(), ratio);
  }
}

TEST(Rivalry, DoesNotCountTheCallThatPlans) {
  Rivalry rivalry;
  run(rivalry, Rivalry::calls_before, 1);
  ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
  rivalry.add(1e-6, 1);
  EXPECT_GT(run(rivalry, 20, 0.9).ours, 0);
  EXPECT_DOUBLE_EQ(rivalry.ratio(), 0.9);
}

TEST(Rivalry, IsNotDecidedByOneOutlier) {
  Rivalry rivalry;
  run(rivalry, Rivalry::calls_before + 3, 0.9);
  ASSERT_EQ(rivalry.next(), Rivalry::Turn::both);
  rivalry.add(1e-6, 1);
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

TEST(ReportOfInterposedCalls, SaysThatNothingWasTakenOver) {
  std::map<int, PastCalls> calls;
  EXPECT_EQ(nothing_taken_over(calls),
            "commpass: nothing was taken over: rank 0 called none of MPI_Alltoall(v,w), MPI_Neighbor_allgather(v) and "
            "MPI_Neighbor_alltoall(v,w).\n");
  calls[2].records[static_cast<std::size_t>(InterposedCall::ialltoall)].by_library = 4;
  EXPECT_NE(nothing_taken_over(calls).find("called none"), std::string::npos) << "those that only start an exchange";
  auto& record = calls[4].records[static_cast<std::size_t>(InterposedCall::alltoallv)];
  record.by_library = 3;
  EXPECT_EQ(nothing_taken_over(calls),
            "commpass: nothing was taken over: MPI ran all 3 calls of rank 0 that can be.\n");
  record.by_both = 1;
  EXPECT_EQ(nothing_taken_over(calls), "");
}

TEST(ReportOfInterposedCalls, HasARowForEachKindAndTheReasons) {
  std::map<int, PastCalls> calls;
  EXPECT_EQ(report_of(calls), "");
  auto& record = calls[4].records[static_cast<std::size_t>(InterposedCall::alltoallv)];
  record.by_library = 2;
  record.by_ours = 7;
  record.by_both = 1;
  record.bytes = 1000;
  record.strategy = "two-step";
  calls[4].refusals.insert("it is an intercommunicator");
  calls[9].refusals.insert("nobody called there");
  const auto report = report_of(calls);
  EXPECT_NE(report.find("alltoallv                 4        10         2         7       1          100"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("two-step"), std::string::npos);
  EXPECT_NE(report.find("left to MPI on 4 ranks: it is an intercommunicator"), std::string::npos);
  EXPECT_EQ(report.find("nobody called"), std::string::npos);
}

}  // namespace
}  // namespace commpass
