// Of strategies that tie by a profile the simplest is chosen, and the user is told.
#include "selector/choose/ties.hpp"

#include <gtest/gtest.h>

#include "model/base/text.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/explain.hpp"
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

TEST(Ties, AreNoneWhereTheProfileKnowsEnough) {
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
    EXPECT_EQ(chosen(lassen(1.1 * worse), depth), "standard") << "a tie";
}

// tuna with a radix of all ranks sends what standard sends.
TEST(Ties, OfEqualPricesGoToTheSimplestWithoutAnUncertainty) {
  auto machine = lassen(0);
  machine.verdict.reset();
  const auto candidate = [](const char* text, Seconds seconds) {
    Candidate result{parse_strategy(text), {}};
    result.cost.seconds = seconds;
    result.cost.stages.resize(1);
    return result;
  };
  const auto chosen = [&](const std::vector<Candidate>& ranking) {
    return to_string(prefer_simplest_of_ties(ranking, machine).front().strategy);
  };
  EXPECT_EQ(chosen({candidate("tuna,radix=64,window=unlimited", 1e-5), candidate("standard", 1e-5)}), "standard");
  EXPECT_EQ(chosen({candidate("standard,window=8", 1e-5), candidate("standard", 1e-5)}), "standard");
  EXPECT_EQ(chosen({candidate("standard", 1e-5), candidate("mpi", 1e-5)}), "standard") << "the first of both";
  EXPECT_EQ(chosen({candidate("standard,window=8", 1e-5), candidate("standard", 1.001e-5)}), "standard,window=8");
}

TEST(Ties, AreToldByAnExplanation) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=64,degree=20");
  const auto ranking = rank_strategies(pattern, Layout::with_ppn(64, 8), lassen(100));
  const auto ties = find_ties(ranking, 100);
  EXPECT_EQ(to_string(ranking.front().strategy), "standard");
  EXPECT_EQ(ties.strategies.size(), ranking.size());
  EXPECT_EQ(*ties.fastest, ranking[1].strategy);
  const auto fastest = to_string(ranking[1].strategy), seconds = format_seconds(ranking[1].cost.seconds);
  const auto text = explain(ranking, 0, {}, ties);
  EXPECT_TRUE(text.ends_with("Fastest by prediction: " + fastest + ", " + seconds + ", but this profile cannot tell " +
                             std::to_string(ranking.size()) + " of them apart (101 times): the simplest is taken.\n"))
      << text;
  const auto lost = explain(ranking, 1, {}, ties);
  EXPECT_NE(
      lost.find("Not chosen: it lost a tie. standard is the simplest of " + std::to_string(ranking.size()) +
                " strategies that this profile cannot tell apart (101 times).\nAgainst that one: " + fastest + " is "),
      std::string::npos)
      << lost;
  EXPECT_NE(lost.find(" times as fast ("), std::string::npos) << lost;
  EXPECT_EQ(lost.find(" 0."), std::string::npos) << lost;
}

TEST(Ties, AreThoseWithinTheUncertaintyOfTheFastest) {
  const auto candidate = [](const char* name, Seconds seconds) {
    return Candidate{parse_strategy(name), {seconds, {}}};
  };
  std::vector ranking{candidate("mpi", 12e-6), candidate("standard", 10e-6), candidate("two-step", 12.6e-6)};
  auto ties = find_ties(ranking, 0.25);
  EXPECT_EQ(to_string(*ties.fastest), "standard");
  EXPECT_TRUE(ties.contains(parse_strategy("mpi")) && ties.contains(parse_strategy("standard")));
  EXPECT_FALSE(ties.contains(parse_strategy("two-step")));
  EXPECT_EQ(describe_ties(ties, parse_strategy("two-step")), "") << "it owes nothing to ties";
  EXPECT_TRUE(find_ties(ranking, 0.1).strategies.empty()) << "one alone ties with none";
  EXPECT_EQ(to_string(*find_ties(ranking, 0).fastest), "standard");
  ranking[1].is_part = true;
  EXPECT_EQ(to_string(*find_ties(ranking, 0.25).fastest), "mpi") << "the least that a strategy takes is no price";
  EXPECT_FALSE(find_ties(ranking, 0.25).contains(parse_strategy("standard")));
  EXPECT_FALSE(find_ties({}, 0.25).fastest.has_value());
  ranking[1].is_part = false;
  ranking[1].plan_seconds = 90e-6;
  EXPECT_EQ(to_string(*find_ties(ranking, 0.25, 1).fastest), "mpi") << "planning counts";
}

TEST(Ties, AreMoreForTrialsOnMoreNodesThanWereMeasured) {
  auto machine = lassen(0.1);
  const auto uncertainty = [&](int nodes) { return uncertainty_for_trials(machine, Layout::with_ppn(4 * nodes, 4)); };
  EXPECT_DOUBLE_EQ(uncertainty(64), 0.1) << "the profile does not tell how many were measured";
  machine.nodes_measured = 2;
  EXPECT_DOUBLE_EQ(uncertainty(2), 0.1);
  EXPECT_GT(uncertainty(4), uncertainty(2));
  EXPECT_DOUBLE_EQ(uncertainty(64) - uncertainty(2), 5 * (uncertainty(4) - uncertainty(2))) << "for each doubling";
  machine.verdict.reset();
  EXPECT_EQ(uncertainty(2), most_uncertainty);
}

TEST(Ties, AreFoundOfSparseExchanges) {
  auto machine = lassen(100);
  machine.operations.put_s = 1e-7;
  const auto layout = Layout::with_ppn(64, 8);
  EXPECT_EQ(to_string(SparseChoice(layout, machine, true).best(expected_traffic(5, 600, layout)).strategy),
            "direct+nbx");
}

TEST(Ties, LeaveTheOthersInTheirOrder) {
  std::vector<int> ranking{10, 11, 12, 13};
  const auto seconds = [](int each) { return Evidence{.seconds = static_cast<double>(each)}; };
  const auto complexity = [](int each) { return each == 12 || each == 13 ? 0 : 1; };
  decide(ranking, 0.25, seconds, complexity);
  EXPECT_EQ(ranking, (std::vector{12, 10, 11, 13}));
}

TEST(Ties, AreDecidedAfterLimitsAndPrices) {
  struct Each {
    int name;
    Evidence evidence;
  };
  // A bound, and a candidate that exceeds a limit, are simpler than the others, and cheaper.
  std::vector<Each> candidates{{0, {0, 3.0}}, {1, {2, 0.5}}, {2, {1, 1.0}}, {3, {0, 2.9, true}}, {4, {0, 2.8}}};
  decide(
      candidates, 0.5, [](const Each& each) { return each.evidence; },
      [](const Each& each) { return each.evidence.excess > 0 || each.evidence.is_bound ? 0 : 1; });
  std::vector<int> names;
  for (const auto& each : candidates) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector{4, 3, 0, 2, 1}));
}

}  // namespace
}  // namespace commpass
