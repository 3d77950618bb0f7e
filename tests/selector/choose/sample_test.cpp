// Prices of patterns that are too large to be run: by a sample of nodes, with an error that is told.
#include "model/cost/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {
namespace {

struct Large {
  Pattern pattern;
  Layout layout;
  Machine machine;

  Large(const char* text, int ppn, Machine on = test::small_cluster())
      : pattern(generate_pattern(text)), layout(Layout::with_ppn(pattern.ranks, ppn)), machine(std::move(on)) {}

  Candidate price(const char* strategy, std::int64_t messages_max, CostModel model = CostModel::burst) const {
    const auto parsed = parse_strategy(strategy);
    return pattern_pricer(pattern, layout, machine, model, {}, 1, {}, messages_max)(std::span(&parsed, 1)).front();
  }
};

constexpr std::int64_t all_messages = std::int64_t{1} << 40;

constexpr const char* strategies[] = {"standard",           "standard,window=8", "two-step",          "three-step",
                                      "split,cap=16KiB",    "stfw,n=2",          "stfw,n=3",          "tuna,radix=16",
                                      "standard,staggered", "tuna-node,radix=2", "two-step,staggered"};

const Large cases[] = {{"random:ranks=512,degree=16,bytes=64", 8},
                       {"random:ranks=1000,degree=10,bytes=20000", 10},
                       {"stencil:dims=8x8x8,points=box,bytes=700", 8},
                       {"power-law:ranks=320,bytes=2000", 8}};

/// The largest budget with which a price is a sample: a message less than its bound.
std::int64_t bound_of(const Large& large, const char* strategy) {
  std::int64_t exact = 4 * std::ssize(large.pattern.edges), sampled = 1 << 10;
  while (exact - sampled > 1) {
    const auto middle = std::midpoint(exact, sampled);
    (large.price(strategy, middle).cost.sampling_error > 0 ? sampled : exact) = middle;
  }
  return sampled;
}

TEST(Sample, IsWithinItsToldErrorWhereASizeCrossesTheBudget) {
  int within = 0, all = 0;
  for (const auto& large : cases)
    for (const auto* strategy : strategies) {
      const auto exact = large.price(strategy, all_messages).cost;
      EXPECT_EQ(exact.sampling_error, 0);
      const auto bound = bound_of(large, strategy);
      for (const double part : {1.0, 0.9, 0.5, 0.3}) {
        const auto sample = large.price(strategy, static_cast<std::int64_t>(part * static_cast<double>(bound))).cost;
        const auto off = std::abs(sample.seconds / exact.seconds - 1);
        EXPECT_GT(sample.sampling_error, 0) << strategy;
        EXPECT_LT(off, 0.25) << strategy << " of " << large.layout.describe() << ", " << part;
        ++all;
        within += off <= sample.sampling_error;
      }
    }
  EXPECT_GE(within, all * 9 / 10) << "of " << all << ": two standard deviations";
}

// Few nodes of a layout, and small patterns, are run whole.
TEST(Sample, IsNotTakenWhereTheBudgetSuffices) {
  const Large large("random:ranks=512,degree=16,bytes=64", 8);
  const auto exact = large.price("two-step", all_messages).cost.seconds;
  EXPECT_EQ(large.price("two-step", simulated_messages_max).cost.seconds, exact);
  EXPECT_EQ(large.price("standard", 512 * 16).cost.sampling_error, 0) << "as many messages as the budget has";
  EXPECT_GT(large.price("standard", 512 * 16 - 1).cost.sampling_error, 0);
  const Large few_nodes("random:ranks=64,degree=16,bytes=64", 4);
  EXPECT_EQ(few_nodes.price("standard", 10).cost.sampling_error, 0);
}

TEST(Sample, KeepsWhatTheBusiestRankSends) {
  Large large("random:ranks=512,degree=8,bytes=64", 8);
  for (Rank rank = 0; rank < 512; ++rank)
    if (rank != 100) large.pattern.edges.push_back({100, rank, 1000});
  const auto exact = large.price("standard", all_messages), sampled = large.price("standard", 1500);
  EXPECT_GT(sampled.cost.sampling_error, 0);
  EXPECT_NEAR(sampled.cost.seconds, exact.cost.seconds, 0.02 * exact.cost.seconds);
  EXPECT_EQ(sampled.demand, exact.demand);
}

// All nodes share the links of their group and the core, whose rates a sample has in part.
TEST(Sample, SharesTheRatesBeyondNodesAsAllDo) {
  for (const auto* strategy : {"standard", "two-step", "stfw,n=2"}) {
    Large large("random:ranks=512,degree=12,bytes=100000", 8);
    large.layout = Layout::regular(8, 1, 8, 8);
    auto& levels = large.machine.levels;
    levels.back().up_rate_bytes_per_s = levels.back().down_rate_bytes_per_s = 1e9;
    const auto exact = large.price(strategy, all_messages).cost, sampled = large.price(strategy, 3000).cost;
    EXPECT_GT(sampled.sampling_error, 0);
    EXPECT_NEAR(sampled.seconds / exact.seconds, 1, 0.1) << strategy;
  }
}

TEST(Sample, HoldsForAllModels) {
  const Large large("random:ranks=512,degree=16,bytes=4000", 8);
  for (const auto model : {CostModel::postal, CostModel::max_rate}) {
    const auto exact = large.price("two-step", all_messages, model).cost,
               sampled = large.price("two-step", 6000, model).cost;
    EXPECT_GT(sampled.sampling_error, 0);
    EXPECT_NEAR(sampled.seconds / exact.seconds, 1, sampled.sampling_error) << name_of(model);
  }
}

TEST(Sample, MakesPricesTieThatItsErrorCannotTellApart) {
  std::vector<Candidate> ranking(2);
  ranking[0].strategy = parse_strategy("two-step");
  ranking[0].cost = {.seconds = 1, .stages = std::vector<StageCost>(2)};
  ranking[1].strategy = parse_strategy("standard");
  ranking[1].cost = {.seconds = 1.03, .stages = std::vector<StageCost>(1)};
  const auto chosen = [&] { return prefer_simplest_of_ties(ranking, test::small_cluster()).front().strategy.route; };
  EXPECT_EQ(chosen(), "two-step");
  ranking[0].cost.sampling_error = 0.04;
  EXPECT_EQ(chosen(), "standard");
}

}  // namespace
}  // namespace commpass
