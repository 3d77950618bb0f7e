// The whole text of an explanation, of candidates made by hand.
#include "selector/choose/explain.hpp"

#include <gtest/gtest.h>

#include "model/route/catalogue.hpp"

namespace commpass {
namespace {

using Parts = std::array<Seconds, cost_part_count>;  // latency, transfer, sharing, receiving, copying, library

Candidate two_stages() {
  Candidate candidate{parse_strategy("two-step"),
                      {10e-6,
                       {{"node digit", 3, 2048, 6e-6, Parts{1e-6, 4e-6, 0, 1e-6, 0, 0}},
                        {"local digit", 5, 1024, 4e-6, Parts{1e-6, 2e-6, 0, 1e-6, 0, 0}}}}};
  candidate.buffered_blocks_max = 7;
  candidate.buffered_bytes_max = 512;
  candidate.plan_seconds = 100e-6;
  return candidate;
}

Candidate one_stage() {
  Candidate candidate{parse_strategy("standard"),
                      {25e-6, {{"rank", 9, 900, 25e-6, Parts{20e-6, 1e-6, 0, 4e-6, 0, 0}}}}};
  candidate.plan_seconds = 50e-6;
  return candidate;
}

TEST(Explanation, TellsStagesBuffersAndWhyTheRunnerUpIsSlower) {
  const std::vector ranking{two_stages(), one_stage()};
  EXPECT_EQ(explain(ranking, 0),
            "two-step: 10 us predicted\n"
            "  stage 1 (node digit): up to 3 messages and 2 KiB sent by a rank, 6 us, most of it bytes of its messages "
            "(beta) (4 us)\n"
            "  stage 2 (local digit): up to 5 messages and 1 KiB sent by a rank, 4 us, most of it bytes of its "
            "messages (beta) (2 us)\n"
            "  a rank holds up to 7 blocks (512 B) for others\n"
            "  2.50 times faster than sending directly (standard: 25 us)\n"
            "Runner-up: standard is 2.50 times as long (25 us): it spends 18 us more on latency of its messages "
            "(alpha) and 5 us less on bytes of its messages (beta); a rank sends up to 9 messages against 8.\n");
  EXPECT_EQ(explain(ranking, 1),
            "standard: 25 us predicted\n"
            "  stage 1 (rank): up to 9 messages and 900 B sent by a rank, 25 us, most of it latency of its messages "
            "(alpha) (20 us)\n"
            "Not chosen: standard is 2.50 times as long (25 us): it spends 18 us more on latency of its messages "
            "(alpha) and 5 us less on bytes of its messages (beta); a rank sends up to 9 messages against 8.\n");
}

TEST(Explanation, ComparesPlansAndCallsWhereTheyAreCounted) {
  const std::vector ranking{one_stage(), two_stages()};  // 75 us against 110 us
  const auto text = explain(ranking, 0, 1);
  EXPECT_TRUE(text.starts_with("standard: 25 us predicted\n  plan 50 us + 1 x 25 us = 75 us\n")) << text;
  EXPECT_NE(text.find("Runner-up: two-step is 1.47 times as long (plan 100 us + 1 x 10 us = 110 us): it spends 5 us "
                      "more on bytes of its messages (beta) and 18 us less on latency"),
            std::string::npos)
      << text;
}

TEST(Explanation, ComparesWithBaselinesAlsoWhereOnlyTheirLeastIsKnown) {
  auto standard = one_stage();
  standard.is_part = true;
  const Candidate other{parse_strategy("stfw,n=2"), {12e-6, {}}}, library{parse_strategy("mpi"), {9e-6, {}}};
  EXPECT_NE(explain(std::vector{two_stages(), other, standard}, 0)
                .find("\n  at least 2.50 times faster than sending directly (standard: 25 us or more)\n"),
            std::string::npos);
  standard.cost.seconds = 8e-6;
  EXPECT_EQ(explain(std::vector{two_stages(), other, standard}, 0).find("standard"), std::string::npos)
      << "that it is no faster than that says nothing";
  EXPECT_NE(explain(std::vector{library, two_stages()}, 1)
                .find("\n  1.11 times slower than the MPI library's collective (mpi: 9 us)\n"),
            std::string::npos);
}

TEST(Explanation, TellsOnlyDifferences) {
  auto slower = one_stage();
  slower.strategy = parse_strategy("standard,window=4");
  slower.cost.seconds = 30e-6;
  slower.cost.stages[0].parts[4] = 5e-6;
  auto faster = one_stage();
  EXPECT_TRUE(explain(std::vector{faster, slower}, 0)
                  .ends_with("Runner-up: standard,window=4 is 1.20 times as long (30 us): it spends 5 us more on "
                             "packing and unpacking; a rank sends up to 9 messages against 9.\n"));
  slower.cost.stages[0].parts = {20e-6, 0, 0, 4e-6, 0, 0};
  EXPECT_TRUE(explain(std::vector{faster, slower}, 0)
                  .ends_with("Runner-up: standard,window=4 is 1.20 times as long (30 us): it spends 1 us less on bytes "
                             "of its messages (beta); a rank sends up to 9 messages against 9.\n"));
  faster.cost.stages[0].parts = {};
  EXPECT_EQ(explain(std::vector{faster}, 0),
            "standard: 25 us predicted\n  stage 1 (rank): up to 9 messages and 900 B sent by a rank, 25 us\n");
}

TEST(Explanation, TellsWhatPlacingBrings) {
  Candidate placed{parse_strategy("stfw,n=2,placed"), {8e-6, {}}}, without{parse_strategy("stfw,n=2"), {12e-6, {}}};
  placed.bytes_sent = 2048;
  without.bytes_sent = 3072;
  const auto text = explain(std::vector{placed, without}, 0);
  EXPECT_NE(
      text.find(
          "  without placed: 12 us predicted, 1.50 times as long; all ranks together would send 3 KiB, not 2 KiB\n"),
      std::string::npos)
      << text;
  without.bytes_sent.reset();
  EXPECT_NE(explain(std::vector{placed, without}, 0).find("1.50 times as long\n"), std::string::npos);
  EXPECT_EQ(explain(std::vector{without, placed}, 0).find("without placed"), std::string::npos) << "it has no flag";
  EXPECT_EQ(explain(std::vector{placed}, 0), "stfw,n=2,placed: 8 us predicted\n") << "nothing to compare with";
}

}  // namespace
}  // namespace commpass
