// What a profile does not tell apart is not a reason to choose.
#include "selector/choose/told_apart.hpp"

#include <gtest/gtest.h>

#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {
namespace {

Machine lassen(double uncertainty) {
  auto machine = read_profile(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json").machine;
  machine.verdict = Verdict{Trust::usable, uncertainty, "a test", {}};
  return machine;
}

std::string chosen(const Machine& machine, RankingDepth depth = RankingDepth::all) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=64,degree=20");
  return to_string(
      rank_strategies(pattern, Layout::with_ppn(64, 8), machine, CostModel::burst, {}, {}, depth).front().strategy);
}

TEST(ToldApart, IsTheCheapestWhereTheProfileKnowsEnough) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=64,degree=20");
  auto without = lassen(0);
  without.verdict.reset();
  const auto ranking = rank_strategies(pattern, Layout::with_ppn(64, 8), without);
  ASSERT_GT(ranking.front().cost.stages.size(), 1U) << "forwarding pays here";
  EXPECT_EQ(chosen(without), to_string(ranking.front().strategy));
  EXPECT_EQ(chosen(lassen(0)), chosen(without));
  const auto standard = std::ranges::find(ranking, parse_strategy("standard"), &Candidate::strategy);
  ASSERT_NE(standard, ranking.end());
  const double worse = standard->cost.seconds / ranking.front().cost.seconds - 1;
  EXPECT_NE(chosen(lassen(0.9 * worse)), "standard");
  for (const auto depth : {RankingDepth::all, RankingDepth::cheapest})
    EXPECT_EQ(chosen(lassen(1.1 * worse), depth), "standard") << "no longer told apart";
}

TEST(ToldApart, IsSaidByAnExplanation) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=64,degree=20");
  const auto ranking = rank_strategies(pattern, Layout::with_ppn(64, 8), lassen(100));
  EXPECT_EQ(to_string(ranking.front().strategy), "standard");
  EXPECT_NE(explain(ranking, 0).find("Preferred as simpler: " + to_string(ranking[1].strategy)), std::string::npos)
      << explain(ranking, 0);
}

TEST(ToldApart, HoldsForSparseExchanges) {
  auto machine = lassen(100);
  machine.operations.put_s = 1e-7;
  const auto layout = Layout::with_ppn(64, 8);
  EXPECT_EQ(to_string(SparseChoice(layout, machine, true).best(expected_traffic(5, 600, layout)).strategy),
            "direct+nbx");
}

TEST(ToldApart, LeavesTheOthersInTheirOrder) {
  std::vector<int> ranking{10, 11, 12, 13};
  const auto seconds = [](int each) { return static_cast<double>(each); };
  const auto complexity = [](int each) { return each == 12 || each == 13 ? 0 : 1; };
  prefer_simple(ranking, 0.25, seconds, complexity);
  EXPECT_EQ(ranking, (std::vector{12, 10, 11, 13}));
}

}  // namespace
}  // namespace commpass
