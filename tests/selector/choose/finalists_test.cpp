// Looking at all strategies by sketches, and pricing in full only those that may be the cheapest.
#include "selector/choose/finalists.hpp"

#include <gtest/gtest.h>

#include <set>

#include <algorithm>
#include <map>

#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"
#include "selector/choose/find_grid.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/shortlist.hpp"

namespace commpass {
namespace {

/// Nodes share what they send and get, and the network.
Machine machine_of_sketches() {
  auto m = test::cluster_of_two_protocols();
  m.levels[standard_level::network].node_share_bytes_per_s = 8e9;
  return m;
}

struct Sketched {
  Pattern pattern;
  Layout layout;
  Machine machine = machine_of_sketches();

  Sketched(const char* text, int ppn) : pattern(generate_pattern(text)), layout(Layout::with_ppn(pattern.ranks, ppn)) {}

  PricersByDepth pricers() const {
    const auto busy = busy_seconds(pattern, layout, machine);
    auto [sketch, sample, whole] =
        pattern_pricers(pattern, layout, machine, CostModel::burst, sampling_order(layout, busy), 1);
    return {part_pricer(pattern, busy, layout, machine, CostModel::burst), std::move(sketch), std::move(sample),
            std::move(whole)};
  }
  std::vector<Strategy> suggestions() const {
    return strategies_for(pattern, layout, machine, CostModel::burst, {}, host_paths);
  }
  std::vector<Candidate> rank(std::size_t at_once = fewest_finalists) const {
    return rank_finalists(pricers(), suggestions(), layout, machine, pattern.messages(), at_once);
  }
};

const Sketched sketched_cases[] = {
    {"random:ranks=256,bytes=64,degree=16", 8},    {"random:ranks=250,bytes=3000,degree=6", 7},
    {"random:ranks=256,bytes=100000,degree=4", 8}, {"stencil:dims=6x6x6,points=box,bytes=700", 8},
    {"power-law:ranks=150,bytes=20000", 6},        {"stencil:dims=7x6x5,points=faces,bytes=40000", 6}};

TEST(Finalists, ChooseAsWellAsPricingEverythingInFull) {
  bool spares_work = false;
  for (const auto& each : sketched_cases) {
    const auto all = rank_strategies(each.pattern, each.layout, each.machine), finalists = each.rank();
    EXPECT_FALSE(finalists.front().is_part);
    EXPECT_LE(finalists.front().cost.seconds, 1.01 * all.front().cost.seconds)
        << to_string(finalists.front().strategy) << " for " << to_string(all.front().strategy) << ", "
        << each.layout.describe();
    std::map<std::string, Seconds> price;
    for (const auto& candidate : all) price[to_string(candidate.strategy)] = candidate.cost.seconds;
    for (const auto& candidate : finalists) {
      const auto known = price.find(to_string(candidate.strategy));
      if (!candidate.is_part && known != price.end()) {
        EXPECT_EQ(candidate.cost.seconds, known->second) << known->first;
      }
      spares_work = spares_work || candidate.is_part;
    }
  }
  EXPECT_TRUE(spares_work);
}

// Of nodes that stand for all, messages meet others than in the whole.
TEST(Finalists, CostAboutAsMuchByTheirSketchAsInFull) {
  for (const auto& each : sketched_cases) {
    const auto strategies = offered_strategies(each.layout, each.machine, CostModel::burst);
    const auto price = each.pricers();
    const auto sketches = price.sketch(strategies), wholes = price.whole(strategies);
    constexpr double excess_max = 1.25;
    for (std::size_t i = 0; i < strategies.size(); ++i) {
      EXPECT_LE(sketches[i].cost.seconds, excess_max * wholes[i].cost.seconds)
          << to_string(strategies[i]) << ", " << each.layout.describe();
      EXPECT_GE(sketches[i].cost.seconds, wholes[i].cost.seconds / 2) << to_string(strategies[i]);
    }
  }
}

TEST(Finalists, AreTheSameHoweverManyArePricedAtOnce) {
  for (const auto& each : sketched_cases) {
    const auto few = each.rank(), many = each.rank(100);
    EXPECT_EQ(few.front().strategy, many.front().strategy) << each.layout.describe();
    EXPECT_EQ(few.front().cost.seconds, many.front().cost.seconds);
  }
}

/// The window is the price in full; a part is a fourth of it, a sketch nine tenths.
struct ByWindow {
  std::vector<int> sketched{}, in_full{};

  PricersByDepth pricers() {
    const auto times = [](double factor, std::vector<int>* asked) {
      return [=](std::span<const Strategy> strategies) {
        std::vector<Candidate> candidates;
        for (const auto& strategy : strategies) {
          if (asked) asked->push_back(strategy.window.rounds);
          candidates.emplace_back().strategy = strategy;
          candidates.back().cost.seconds = factor * (strategy.window.unlimited() ? 1e9 : strategy.window.rounds);
        }
        return candidates;
      };
    };
    return {times(0.25, nullptr), times(0.9, &sketched), times(1, &in_full)};
  }
};

TEST(Finalists, AreThoseNearTheThirdCheapest) {
  ByWindow by_window;
  std::vector<Strategy> strategies;
  for (int window = 400; window >= 100; window -= 10) strategies.push_back({"standard", {}, {window}});
  // More edges than for which anything else is tried.
  const auto layout = Layout::with_ppn(1000, 10);
  const auto ranking =
      rank_finalists(by_window.pricers(), strategies, layout, machine_of_sketches(), std::int64_t{1} << 40, 2);
  // In pairs, the least sketches first. The third cheapest is 120: sketches up to 120·1.1 are of 140 and less.
  EXPECT_EQ(by_window.in_full, (std::vector{100, 110, 120, 130, 140}));
  EXPECT_EQ(ranking.front().strategy.window.rounds, 100);
  EXPECT_EQ(std::ranges::count(ranking, false, &Candidate::is_part), 5);
  // Of the others those were sketched whose parts are less than what the cheapest cost.
  std::ranges::sort(by_window.sketched);
  EXPECT_EQ(std::ranges::adjacent_find(by_window.sketched), by_window.sketched.end()) << "none twice";
  EXPECT_LE(by_window.sketched.back(), 4 * 120 * 11 / 10);
}

// By sketches it goes on to windows of half the size, which were not suggested.
TEST(Finalists, AreSearchedForWhereSomeTrialsAreLeft) {
  ByWindow by_window;
  const std::vector<Strategy> strategies{{"standard", {}, {120}}, {"standard", {}, {110}}, {"standard", {}, {100}}};
  const auto ranking = rank_finalists(by_window.pricers(), strategies, Layout::with_ppn(1000, 10),
                                      machine_of_sketches(), std::int64_t{1} << 19, 2);
  EXPECT_TRUE(std::ranges::count(by_window.sketched, 50) > 0);
  EXPECT_LE(ranking.front().strategy.window.rounds, 50);
}

// Samples that are off by up to 10 %, and say so. A candidate that is not asked for again keeps the price of its
// sample.
TEST(Finalists, ArePricedAgainWhereSamplesDoNotTellTheCheapest) {
  ByWindow by_window;
  auto price = by_window.pricers();
  price.sample = [](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies) {
      auto& candidate = candidates.emplace_back();
      candidate.strategy = strategy;
      const int window = strategy.window.rounds;
      candidate.cost = {.seconds = window == 100 ? 109.0 : window, .sampling_error = 0.1};
    }
    return candidates;
  };
  std::vector<int> again;
  price.whole = [&](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies) {
      again.push_back(strategy.window.rounds);
      candidates.emplace_back().strategy = strategy;
      candidates.back().cost.seconds = strategy.window.rounds;
    }
    return candidates;
  };
  const std::vector<Strategy> strategies{
      {"standard", {}, {100}}, {"standard", {}, {105}}, {"standard", {}, {120}}, {"standard", {}, {140}}};
  const auto ranking = rank_finalists(price, strategies, Layout::with_ppn(1000, 10), machine_of_sketches(),
                                      std::int64_t{1} << 40, fewest_finalists);
  std::ranges::sort(again);
  EXPECT_EQ(again, (std::vector{100, 105, 120}));  // 140 − 10 % exceeds 105 + 10 %
  EXPECT_EQ(ranking.front().strategy.window.rounds, 100);
  EXPECT_EQ(ranking.front().cost.sampling_error, 0);
  EXPECT_EQ(ranking.back().cost.sampling_error, 0.1);
}

TEST(Finalists, AreAsCheapByLargerSamplesAsByAllMessages) {
  const Sketched each("random:ranks=1280,bytes=64,degree=180", 8);  // more messages than a program simulates
  const auto ranking = each.rank();
  const auto& first = ranking.front();
  EXPECT_EQ(first.cost.sampling_error, 0) << "all of its messages are fewer than predict simulates";
  const auto in_whole = price(first.strategy, each.pattern, each.layout, each.machine);
  EXPECT_EQ(first.cost.seconds, in_whole.cost.seconds);
  for (const auto& candidate : ranking) {
    if (candidate.is_part) continue;
    const auto whole = price(candidate.strategy, each.pattern, each.layout, each.machine).cost.seconds;
    EXPECT_GE(whole, first.cost.seconds * (1 - 1e-9)) << to_string(candidate.strategy);
    EXPECT_NEAR(candidate.cost.seconds, whole, 2 * candidate.cost.sampling_error * whole + 1e-9 * whole);
  }
}

// A price of nothing says nothing: it is asked for in full.
TEST(Finalists, ArePricedInFullWhereNothingIsKnown) {
  ByWindow by_window;
  auto price = by_window.pricers();
  price.sketch = price.part = [](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates(strategies.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].strategy = strategies[i];
    return candidates;
  };
  std::vector<Strategy> strategies;
  for (int window = 1; window <= 20; ++window) strategies.push_back({"standard", {}, {window}});
  const auto ranking = rank_finalists(price, strategies, Layout::with_ppn(100, 10), machine_of_sketches(), 1000);
  EXPECT_EQ(ranking.front().strategy.window.rounds, 1);
  const std::set<int> in_full(by_window.in_full.begin(), by_window.in_full.end());
  for (int window = 1; window <= 20; ++window) EXPECT_TRUE(in_full.contains(window)) << window;
}

TEST(Finalists, AreSoughtForLargePatternsOnManyNodes) {
  const auto machine = machine_of_sketches();
  const auto has_sketches = [&](int ranks, int degree, int ppn) {
    Pattern pattern{ranks, {}};
    for (Rank rank = 0; rank < ranks; ++rank)
      for (int i = 1; i <= degree; ++i) pattern.edges.push_back({rank, (rank + i * 7) % ranks, 10});
    const auto layout = Layout::with_ppn(ranks, ppn);
    return pricers_by_depth(pattern, layout, machine, CostModel::burst, 1).has_value();
  };
  EXPECT_TRUE(has_sketches(2048, 50, 32));
  EXPECT_FALSE(has_sketches(2048, 9, 32)) << "few edges";
  EXPECT_FALSE(has_sketches(2048, 50, 64)) << "a node has one of 32 ranks";
}

}  // namespace
}  // namespace commpass
