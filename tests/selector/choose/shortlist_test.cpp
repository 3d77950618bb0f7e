// Pricing in full only strategies that may be among the cheapest.
#include "selector/choose/shortlist.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {
namespace {

/// Large messages wait for their receives.
Machine machine_with_everything() {
  auto m = test::cluster_of_two_protocols();
  m.host.by_level[standard_level::network]->rendezvous_from_bytes = 4097;
  return m;
}

const char* const patterns[] = {"random:ranks=512,bytes=64,degree=20", "random:ranks=500,bytes=3000,degree=6",
                                "random:ranks=512,bytes=100000,degree=4", "stencil:dims=8x8x8,points=box,bytes=700",
                                "power-law:ranks=300,bytes=20000"};

TEST(Shortlist, ChoosesAsWellAndLeavesPricesInFullAsTheyAre) {
  const auto machine = machine_with_everything();
  bool spares_work = false;
  for (const auto* text : patterns) {
    const auto pattern = generate_pattern(text);
    const auto layout = Layout::with_ppn(pattern.ranks, 16);
    const auto all = rank_strategies(pattern, layout, machine),
               cheapest = rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::cheapest);
    std::map<std::string, Seconds> price;
    for (const auto& candidate : all) price[to_string(candidate.strategy)] = candidate.cost.seconds;
    EXPECT_LE(cheapest.front().cost.seconds, 1.001 * all.front().cost.seconds)
        << to_string(cheapest.front().strategy) << " for " << to_string(all.front().strategy) << ", " << text;
    for (std::size_t i = 0; i < cheapest.size(); ++i) {
      const auto strategy = to_string(cheapest[i].strategy);
      EXPECT_FALSE(i < 3 && cheapest[i].is_part) << strategy << ", " << text;
      // Where the search goes on depends on prices in full, which a part does not have.
      if (!price.contains(strategy)) continue;
      if (cheapest[i].is_part) EXPECT_LE(cheapest[i].cost.seconds, price[strategy]) << strategy << ", " << text;
      else EXPECT_EQ(cheapest[i].cost.seconds, price[strategy]) << strategy << ", " << text;
      spares_work = spares_work || cheapest[i].is_part;
    }
  }
  EXPECT_TRUE(spares_work);
}

TEST(Shortlist, TakesARankToBeBusyWithTheMoreOfWhatItSendsAndReceives) {
  const auto layout = Layout::with_ppn(4, 2);
  const auto machine = machine_with_everything();
  for (Rank hub = 0; hub < 4; ++hub) {
    Pattern gather{4, {}}, scatter{4, {}};
    for (Rank rank = 0; rank < 4; ++rank)
      if (rank != hub) {
        gather.edges.push_back({rank, hub, 1000});
        scatter.edges.push_back({hub, rank, 1000});
      }
    const auto busy = busy_seconds(gather, layout, machine);
    EXPECT_DOUBLE_EQ(busy[static_cast<std::size_t>(hub)], std::accumulate(busy.begin(), busy.end(), 0.0) / 2) << hub;
    EXPECT_EQ(busy, busy_seconds(scatter, layout, machine)) << hub;
  }
}

TEST(Shortlist, NoPartCostsMoreThanTheWhole) {
  const auto machine = machine_with_everything();
  for (const auto* text : patterns) {
    const auto pattern = generate_pattern(text);
    const auto layout = Layout::with_ppn(pattern.ranks, 16);
    const auto part = busiest_part(pattern, busy_seconds(pattern, layout, machine));
    for (const auto model : {CostModel::burst, CostModel::max_rate})
      for (const auto& strategy : offered_strategies(layout, machine, model)) {
        if (pattern_need(strategy) != PatternNeed::nothing) continue;
        const auto least = price(strategy, part, layout, without_sharing(machine), model).cost.seconds;
        EXPECT_LE(least, price(strategy, pattern, layout, machine, model).cost.seconds)
            << to_string(strategy) << ", " << text;
        EXPECT_GT(least, 0) << to_string(strategy) << ", " << text;
      }
  }
}

TEST(Shortlist, PricesInFullStrategiesNearTheThirdCheapest) {
  // The whole takes twice as long as the part, which takes as many seconds as the window has rounds.
  std::multiset<int> in_full;
  const auto by_window = [](double factor, std::multiset<int>* asked) {
    return [=](std::span<const Strategy> strategies) {
      std::vector<Candidate> candidates;
      for (const auto& strategy : strategies) {
        if (asked) asked->insert(strategy.window.rounds);
        candidates.emplace_back().strategy = strategy;
        candidates.back().cost.seconds = factor * strategy.window.rounds;
      }
      return candidates;
    };
  };
  const auto price = shortlist(by_window(2, &in_full), by_window(1, nullptr), 1.1);
  std::vector<Strategy> strategies;
  for (int window = 20; window > 0; --window) strategies.push_back({"standard", {}, {window}});
  const auto candidates = price(strategies);
  // The eight cheapest parts first: the third cheapest takes 6 s, and no other part less than 9 s.
  EXPECT_EQ(in_full, (std::multiset{1, 2, 3, 4, 5, 6, 7, 8}));
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    EXPECT_EQ(candidates[i].strategy, strategies[i]);
    EXPECT_EQ(candidates[i].is_part, strategies[i].window.rounds > 8);
  }
  // It remembers: of a part that takes 7 s nothing is hoped, of one that takes 6 s it is.
  const std::vector<Strategy> more{{"standard", {}, {7}}, {"standard", {}, {6}}};
  const auto later = price(more);
  EXPECT_TRUE(later[0].is_part);
  EXPECT_FALSE(later[1].is_part);
}

// Of 2048 ranks most strategies are known to be expensive by the messages of one rank: the choice takes as long as the
// best.
TEST(Shortlist, OfOneShotAllToAllsLosesNothing) {
  const auto machine = machine_with_everything();
  std::vector<int> uneven;  // every other node has a rank more, the next one less
  for (int rank = 0; rank < 2048; ++rank)
    uneven.push_back(rank / 32 % 2 == 0 && rank % 32 == 31 ? rank / 32 + 1 : rank / 32);
  bool spares_work = false;
  for (const auto& layout : {parse_layout("64x32"), parse_layout("64x2x16"), Layout(uneven)})
    for (const double density : {1.0, 0.3, 0.01})
      for (const double bytes : {16.0, 3000.0}) {
        const RandomPattern blocks{density, density, bytes, 32};
        const auto rank = [&](RankingDepth depth) {
          return rank_one_shot(blocks, layout, machine, CostModel::burst, {}, BlockSizes::told, depth);
        };
        const auto all = rank(RankingDepth::all), cheapest = rank(RankingDepth::cheapest);
        EXPECT_FALSE(cheapest.front().is_part);
        EXPECT_LE(cheapest.front().cost.seconds, 1.005 * all.front().cost.seconds)
            << layout.describe() << ", " << density << ", " << bytes << ": " << to_string(all.front().strategy);
        spares_work = spares_work || std::ranges::count(cheapest, true, &Candidate::is_part) > 20;
      }
  EXPECT_TRUE(spares_work);
}

TEST(Shortlist, TakesTheEdgesOfTheBusiestRanks) {
  const auto layout = Layout::regular(10, 1, 4);
  const auto machine = machine_with_everything();
  Pattern pattern{40, {}};
  for (Rank rank = 0; rank < 40; ++rank) pattern.edges.push_back({rank, (rank + 4) % 40, 10});
  for (Rank rank = 0; rank < 8; ++rank)
    pattern.edges.push_back({30, rank * 3, 100000});  // rank 30 sends much, eight receive it
  const auto part = busiest_part(pattern, busy_seconds(pattern, layout, machine));
  EXPECT_EQ(std::ranges::count(part.edges, 30, &Edge::source), 9);
  EXPECT_LT(part.edges.size(), pattern.edges.size() / 2 + 4);
}

TEST(Shortlist, TakesTheEdgesOfTheBusiestReceivers) {
  const auto layout = Layout::regular(10, 1, 4);
  Pattern pattern{40, {}};
  for (Rank rank = 0; rank < 40; ++rank) pattern.edges.push_back({rank, (rank + 4) % 40, 10});
  // Twenty ranks send rank 30 something each, none of them as much as eight others send to each other.
  for (Rank rank = 0; rank < 20; ++rank) pattern.edges.push_back({rank, 30, 5000});
  for (Rank rank = 31; rank < 39; ++rank) pattern.edges.push_back({rank, rank + 1, 8000});
  const auto part = busiest_part(pattern, busy_seconds(pattern, layout, machine_with_everything()));
  EXPECT_EQ(std::ranges::count(part.edges, 30, &Edge::destination), 21);
  EXPECT_EQ(std::ranges::count(part.edges, 30, &Edge::source), 1);
}

TEST(Shortlist, CountsNothingThatNeedsNoMessage) {
  const auto layout = Layout::regular(10, 1, 4);
  Pattern pattern{40, {}};
  for (Rank rank = 0; rank < 10; ++rank) pattern.edges.push_back({rank, rank + 10, 10});
  for (int i = 0; i < 100; ++i) {
    pattern.edges.push_back({39, 39, 1000000});
    pattern.edges.push_back({38, 37, 0});
  }
  const auto part = busiest_part(pattern, busy_seconds(pattern, layout, machine_with_everything()));
  EXPECT_EQ(std::ranges::count(part.edges, 39, &Edge::source), 0);
  EXPECT_EQ(std::ranges::count(part.edges, 38, &Edge::source), 0);
  EXPECT_EQ(part.edges.size(), 8U) << "eight ranks, each with one message";
}

// The part says nothing about the time to plan.
TEST(Shortlist, PricesEverythingInFullWhereCallsAreCounted) {
  const auto pattern = generate_pattern(patterns[0]);
  const auto layout = Layout::with_ppn(pattern.ranks, 16);
  const auto machine = machine_with_everything();
  std::size_t in_full = 0;
  const Pricer whole = [&](std::span<const Strategy> strategies) {
    in_full += strategies.size();
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies) candidates.push_back({strategy, {1e-9, {}}});
    return candidates;
  };
  const auto offered = offered_strategies(layout, machine, CostModel::burst);
  const auto ask = [&](const Calls& calls) {
    in_full = 0;
    for (const auto& candidate : price_promising(whole, pattern, layout, machine, CostModel::burst, calls)(offered))
      EXPECT_FALSE(calls && candidate.is_part);
    return in_full;
  };
  EXPECT_EQ(ask(3), offered.size());
  EXPECT_LT(ask({}), offered.size());
}

// All messages of a rank are in its part, so its eight busiest ranks must have few of all.
TEST(Shortlist, PricesASmallPatternInFull) {
  const auto layout = Layout::with_ppn(32, 16);
  const auto machine = machine_with_everything();
  std::size_t in_full = 0;
  const Pricer whole = [&](std::span<const Strategy> strategies) {
    in_full += strategies.size();
    return std::vector<Candidate>(strategies.size());
  };
  const auto offered = offered_strategies(layout, machine, CostModel::burst);
  price_promising(whole, test::alltoall(32, 100), layout, machine, CostModel::burst, {})(offered);
  EXPECT_EQ(in_full, offered.size());
}

}  // namespace
}  // namespace commpass
