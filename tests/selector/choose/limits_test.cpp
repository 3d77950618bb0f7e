// Limits come before prices.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/candidate_text.hpp"
#include "selector/choose/select.hpp"

namespace commpass {
namespace {

Machine machine_with(const Limits& limits) {
  auto machine = test::small_cluster();
  machine.limits = limits;
  return machine;
}

Candidate candidate_of(const std::vector<Candidate>& ranking, const char* text) {
  return *std::ranges::find(ranking, parse_strategy(text), &Candidate::strategy);
}

void expect_kept(const std::vector<Candidate>& ranking, const Limits& limits) {
  for (const auto& candidate : ranking) {
    if (candidate.is_part) continue;
    ASSERT_TRUE(candidate.demand) << to_string(candidate.strategy);
    EXPECT_STREQ(candidate.exceeded_limit, exceeded_limit(limits, *candidate.demand, candidate.buffered_bytes_max))
        << to_string(candidate.strategy);
    const auto runs = as_run(candidate);
    EXPECT_EQ(parse_strategy(to_string(runs)), runs) << "ranks tell each other by this text";
  }
  EXPECT_EQ(ranking.front().exceeded_limit, nullptr);
}

constexpr int limited_ranks = 96, limited_ppn = 8;

TEST(Limits, HoldForAllThatIsRankedByItsEdges) {
  const auto layout = Layout::with_ppn(limited_ranks, limited_ppn);
  for (const char* text :
       {"alltoall:ranks=96,bytes=8", "random:ranks=96,degree=80,bytes=4096", "power-law:ranks=96,bytes=100"}) {
    const auto pattern = generate_pattern(text);
    for (const int limit : {8, 64}) {
      const Limits limits{.messages_off_node = limit};
      const auto machine = machine_with(limits);
      expect_kept(rank_strategies(pattern, layout, machine), limits);
      expect_kept(rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::cheapest), limits);
    }
  }
}

TEST(Limits, HoldForClosedForms) {
  const auto layout = Layout::with_ppn(limited_ranks, limited_ppn);
  for (const int limit : {8, 64}) {
    const Limits limits{.messages_off_node = limit};
    const auto machine = machine_with(limits);
    expect_kept(rank_alltoall(100000, layout, machine), limits);
    expect_kept(rank_one_shot({0.5, 0.5, 1000}, layout, machine), limits);
  }
}

TEST(Limits, GiveAStrategyTheWindowWithWhichItIsPricedAndRun) {
  const auto layout = Layout::with_ppn(limited_ranks, limited_ppn);
  const auto machine = machine_with({});
  const std::vector strategies{parse_strategy("standard"), parse_strategy("standard,window=64"),
                               parse_strategy("standard,window=8"), parse_strategy("two-step")};
  const auto ranking =
      rank_strategies(generate_pattern("alltoall:ranks=96,bytes=8"), layout, machine, CostModel::burst, strategies);
  const auto direct = candidate_of(ranking, "standard"), windowed = candidate_of(ranking, "standard,window=64");
  EXPECT_EQ(to_string(as_run(direct)), "standard,window=64");
  EXPECT_EQ(direct.cost.seconds, windowed.cost.seconds);
  EXPECT_EQ(direct.demand, windowed.demand);
  EXPECT_FALSE(windowed.limited_window);
  EXPECT_FALSE(candidate_of(ranking, "standard,window=8").limited_window);
  EXPECT_EQ(to_string(as_run(candidate_of(ranking, "two-step"))), "two-step");
  const auto told = parse_candidates(to_text(ranking));
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    EXPECT_EQ(as_run(told[i]), as_run(ranking[i]));
    EXPECT_EQ(told[i].demand, ranking[i].demand);
  }
}

TEST(Limits, OfPartnersAndMemoryChooseAmongWhatKeepsThem) {
  const auto layout = Layout::with_ppn(limited_ranks, limited_ppn);
  const auto pattern = generate_pattern("alltoall:ranks=96,bytes=65536");
  const auto least = [&](const Limits& limits) {
    return rank_strategies(pattern, layout, machine_with(limits)).front();
  };
  const auto free = least({});
  ASSERT_GT(free.demand->partners, 20);
  const auto few = least({.partners = 20});
  EXPECT_LE(few.demand->partners, 20);
  EXPECT_EQ(few.exceeded_limit, nullptr);
  EXPECT_GT(few.cost.seconds, free.cost.seconds);
  const auto lean = least({.partners = 20, .buffer_bytes = *few.buffered_bytes_max - 1});
  EXPECT_TRUE(lean.exceeded_limit || *lean.buffered_bytes_max < *few.buffered_bytes_max);
  // Where nothing keeps them, something is chosen all the same.
  const auto none = least({.partners = 1});
  EXPECT_STREQ(none.exceeded_limit, "partners");
  const auto told = parse_candidates(to_text(std::vector{none})).front();
  EXPECT_STREQ(told.exceeded_limit, "partners");
}

}  // namespace
}  // namespace commpass
