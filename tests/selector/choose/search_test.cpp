// The search for strategies that no paper lists.
#include "selector/choose/search.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

const Layout sixteen_nodes = Layout::regular(16, 1, 16);

/// Prices by a rule in place of a model, and counts.
struct Prices {
  std::function<Seconds(const std::string&)> rule;
  std::multiset<std::string> asked;

  std::vector<Candidate> operator()(std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies) {
      const auto text = to_string(strategy);
      asked.insert(text);
      auto& candidate = candidates.emplace_back();
      candidate.strategy = strategy;
      candidate.cost.seconds = rule(text);
    }
    return candidates;
  }
};

std::vector<Candidate> search(Prices& prices, const std::vector<std::string>& from, std::int64_t edges = 1) {
  std::vector<Strategy> strategies;
  for (const auto& text : from) strategies.push_back(parse_strategy(text));
  auto candidates = prices(strategies);
  search_strategies(candidates, sixteen_nodes, edges, std::ref(prices));
  return candidates;
}

bool holds(const std::vector<Candidate>& candidates, const std::string& text) {
  return std::ranges::any_of(candidates, [&](const auto& c) { return to_string(c.strategy) == text; });
}

TEST(Search, GoesFromGoodToBetter) {
  // Every step towards 4 x 8 x 8 is rewarded.
  Prices prices{[](const std::string& text) {
                  return text == "stfw,dims=4x8x8"    ? 1.0
                         : text == "stfw,dims=4x64"   ? 2.0
                         : text == "stfw,dims=4x4x16" ? 1.5
                                                      : 3.0;
                },
                {}};
  const auto found = search(prices, {"stfw,n=2", "standard"});
  EXPECT_TRUE(holds(found, "stfw,dims=4x8x8"));
}

// 60 ranks, 8 x 8 for two dimensions: the best cut is by divisors, and not next to it.
TEST(Search, CutsRanksByTheirDivisors) {
  const auto of_60 = Layout::regular(6, 2, 5);
  std::set<std::string> asked;
  const Pricer price = [&](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies) {
      asked.insert(to_string(strategy));
      candidates.push_back({strategy, {to_string(strategy) == "stfw,n=2" ? 1.0 : 2.0, {}}});
    }
    return candidates;
  };
  auto candidates = price(std::vector{parse_strategy("stfw,n=2")});
  search_strategies(candidates, of_60, 1, price);
  EXPECT_TRUE(asked.contains("stfw,dims=5x12"));
  EXPECT_TRUE(asked.contains("stfw,dims=20x3"));
}

// The three cheapest are of one route, next to which there is nothing better.
TEST(Search, GoesOnFromTheCheapestOfOtherRoutesToo) {
  Prices prices{
      [](const std::string& text) {
        return text == "stfw,dims=4x64" ? 0.5 : text == "stfw,n=2" ? 2.0 : text.starts_with("tuna,rad") ? 1.0 : 3.0;
      },
      {}};
  const auto found = search(prices, {"tuna,radix=4", "tuna,radix=5", "tuna,radix=6", "stfw,n=2", "two-step"});
  EXPECT_TRUE(holds(found, "stfw,dims=4x64"));
}

TEST(Search, PricesNothingTwiceAndOnlyWhatApplies) {
  Prices prices{[](const std::string& text) { return 1.0 + static_cast<double>(text.size()); }, {}};
  const auto found = search(prices, {"two-step", "stfw,n=3", "tuna,radix=2", "standard,window=8"});
  EXPECT_EQ(prices.asked.size(), found.size());
  for (const auto& text : prices.asked) {
    EXPECT_EQ(prices.asked.count(text), 1U) << text;
    EXPECT_NO_THROW(make_route(parse_strategy(text), sixteen_nodes)) << text;
  }
}

TEST(Search, TriesTheCheapestOfEachRouteWithItsFlags) {
  // Far from the cheapest of all.
  Prices prices{
      [](const std::string& text) {
        return text == "stfw,n=3,placed" ? 0.5 : text == "stfw,n=3" ? 9.0 : text.starts_with("stfw") ? 10.0 : 1.0;
      },
      {}};
  const auto found = search(prices, {"stfw,n=2", "stfw,n=3", "standard", "two-step", "tuna,radix=4"});
  EXPECT_TRUE(holds(found, "stfw,n=3,placed"));
  EXPECT_LE(std::ranges::count_if(found, [](const Candidate& c) { return to_string(c.strategy).ends_with(",placed"); }),
            3)
      << "each is expensive";
}

TEST(Search, TriesFlagsOnlyWithWhatTheyGoWith) {
  for (const auto* const cheapest : {"standard", "standard,window=8"}) {
    Prices prices{[&](const std::string& text) { return text == cheapest ? 1.0 : 2.0; }, {}};
    const auto found = search(prices, {cheapest});
    EXPECT_TRUE(holds(found, "standard,large-first")) << cheapest;
    EXPECT_FALSE(holds(found, "standard,window=8,large-first")) << cheapest;
  }
}

// stfw,n=3 runs faster than stfw,n=2, but for a few calls it takes too long to plan.
TEST(Search, TriesFlagsOfTheCheapestWithItsPlanWhereCallsAreCounted) {
  const auto price = [](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies) {
      auto& candidate = candidates.emplace_back();
      candidate.strategy = strategy;
      const auto text = to_string(strategy);
      candidate.cost.seconds = text == "stfw,n=3" ? 1.0 : text == "stfw,n=2" ? 2.0 : 3.0;
      candidate.plan_seconds = text == "stfw,n=3" ? 1000.0 : 1.0;
    }
    return candidates;
  };
  const std::vector<Strategy> given{parse_strategy("stfw,n=2"), parse_strategy("stfw,n=3")};
  const auto first_flagged = [&](const Calls& calls) {
    auto candidates = price(given);
    search_strategies(candidates, sixteen_nodes, 1, price, calls);
    const auto found =
        std::ranges::find_if(candidates, [](const Candidate& c) { return to_string(c.strategy).ends_with(",placed"); });
    return found == candidates.end() ? std::string("none") : to_string(found->strategy);
  };
  EXPECT_EQ(first_flagged({}), "stfw,n=3,placed");
  EXPECT_EQ(first_flagged(10), "stfw,n=2,placed");
}

TEST(Search, LeavesOutStrategiesWithoutAPrice) {
  Prices prices{[](const std::string&) { return 1.0; }, {}};
  const std::vector<Strategy> one{parse_strategy("stfw,n=2")};
  auto candidates = prices(one);
  search_strategies(candidates, sixteen_nodes, 1, [](std::span<const Strategy>) { return std::vector<Candidate>{}; });
  EXPECT_EQ(candidates.size(), 1U);
}

TEST(Search, TriesLessWhereEachTrialIsLong) {
  Prices few{[](const std::string&text) { return 1.0 + static_cast<double>(text.size()); }, {}}, many = few;
  const auto suggestions = std::vector<std::string>{"two-step", "stfw,n=3"};
  EXPECT_GT(search(many, suggestions).size(), 20U);
  EXPECT_LE(search(few, suggestions, std::int64_t{1} << 40).size(), suggestions.size() + 4)
      << "one next to them, and three with flags";
}

TEST(Search, HasNothingToDoWhereNothingCostsAnything) {
  Prices prices{[](const std::string&) { return 0.0; }, {}};
  EXPECT_EQ(search(prices, {"standard", "two-step"}).size(), 2U);
}

// Four strategies, of which three lead the search on: the one with an expensive plan does where the exchange runs
// often.
TEST(Search, GoesOnFromTheCheapestWithItsPlan) {
  for (const Calls calls : {Calls(1), Calls(1e6), Calls()}) {
    std::set<std::string> asked;
    const Pricer price = [&](std::span<const Strategy> strategies) {
      std::vector<Candidate> candidates;
      for (const auto& strategy : strategies) {
        const auto text = to_string(strategy);
        asked.insert(text);
        auto& candidate = candidates.emplace_back();
        candidate.strategy = strategy;
        candidate.cost.seconds = text == "standard" ? 1 : text.find(',') == std::string::npos ? 2 : 50;
        candidate.plan_seconds = text == "standard" ? 1000 : 0;
      }
      return candidates;
    };
    auto candidates = price(std::vector{parse_strategy("standard"), parse_strategy("two-step"),
                                        parse_strategy("two-step-socket"), parse_strategy("three-step")});
    search_strategies(candidates, sixteen_nodes, 1, price, calls);
    EXPECT_EQ(asked.contains("standard,window=127"), calls != Calls(1)) << calls.value_or(0);
  }
}

/// The windows that a search asks for, from one strategy on; 0: unlimited.
std::set<int> windows_asked(const std::string& from, const Layout& of) {
  const auto start = parse_strategy(from);
  std::set<int> windows;
  const Pricer price = [&](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : strategies) {
      auto like = strategy;
      like.window = start.window;
      if (like == start && strategy != start) windows.insert(strategy.window.rounds);
      // Only the start leads on.
      candidates.push_back({strategy, {strategy == start ? 1.0 : 1e9, {}}});
    }
    return candidates;
  };
  auto candidates = price(std::vector{start, parse_strategy("three-step"), parse_strategy("split,cap=1")});
  candidates[1].cost.seconds = candidates[2].cost.seconds = 2;
  search_strategies(candidates, of, 1, price);
  return windows;
}

TEST(Search, HalvesAndDoublesWindowsUpToTheRoundsThereAre) {
  const auto even = Layout::regular(16, 1, 16);  // 255 rounds
  EXPECT_EQ(windows_asked("standard,window=20", even), (std::set{10, 40}));
  EXPECT_EQ(windows_asked("standard,window=200", even), (std::set{100, 0})) << "400 rounds are all";
  EXPECT_EQ(windows_asked("standard,window=127", even), (std::set{63, 0})) << "254 rounds are nearly all";
  EXPECT_EQ(windows_asked("standard,window=90", even), (std::set{45, 180}));
  EXPECT_EQ(windows_asked("standard,window=128", even), (std::set{64, 0}));
  EXPECT_EQ(windows_asked("standard", even), (std::set{127, 255})) << "all at once, in the order of rounds, too";
  EXPECT_EQ(windows_asked("standard,window=8", even), (std::set{4, 16}));
  EXPECT_EQ(windows_asked("standard,window=6", even), (std::set{12})) << "3 are too few";
  EXPECT_EQ(windows_asked("standard,window=8", Layout::regular(17, 1, 1)), (std::set{4, 0})) << "16 rounds are all";
  // Rounds that run one by one anyway do not count: 8 between nodes, 31 within.
  EXPECT_EQ(windows_asked("tuna-node,radix=32", Layout::regular(9, 1, 32)), (std::set{4, 8}));
}

TEST(Search, TriesTheOtherKindOfMessagesOfEachRoute) {
  Prices prices{[](const std::string& text) { return text.find("staggered") != std::string::npos ? 1.0 : 2.0; }, {}};
  const auto found = search(prices, {"standard", "two-step", "three-step", "tuna,radix=2", "mpi"});
  for (const auto* text :
       {"standard,staggered", "two-step,staggered", "three-step,staggered", "tuna,radix=2,staggered"})
    EXPECT_TRUE(holds(found, text)) << text;
  EXPECT_FALSE(holds(found, "mpi,staggered"));
  Prices others{[](const std::string& text) { return text == "two-step" ? 1.0 : 2.0; }, {}};
  EXPECT_TRUE(holds(search(others, {"two-step,staggered"}), "two-step"));
}

TEST(Search, VariesTheOrderOfDigitsAndWhatLeadersDo) {
  Prices prices{[](const std::string&) { return 1.0; }, {}};
  EXPECT_TRUE(holds(search(prices, {"stfw,n=2"}), "stfw,n=2,outer-first"));
  EXPECT_TRUE(holds(search(prices, {"stfw,n=2,outer-first"}), "stfw,n=2"));
  EXPECT_TRUE(holds(search(prices, {"multi-leader,leaders=4"}), "multi-leader,leaders=4,node-aware"));
}

TEST(Search, VariesLocalAndNodeDigitsWindowsRadicesAndCaps) {
  Prices prices{[](const std::string&) { return 1.0; }, {}};
  EXPECT_TRUE(holds(search(prices, {"two-step"}), "two-step,local=4x4"));
  EXPECT_TRUE(holds(search(prices, {"two-step"}), "two-step,node=4x4"));
  EXPECT_TRUE(holds(search(prices, {"two-step"}), "local-then-node"));
  EXPECT_TRUE(holds(search(prices, {"standard"}), "standard,window=127"));
  EXPECT_TRUE(holds(search(prices, {"tuna,radix=8"}), "tuna,radix=9"));
  EXPECT_TRUE(holds(search(prices, {"split,cap=8KiB"}), "split,cap=4KiB"));
}

// An example by hand: 64 destinations of 64 bytes on 8 nodes of 16 ranks.
TEST(Search, IsPartOfARanking) {
  Machine machine;
  machine.name = "test";
  test::set_channel(machine, standard_level::socket, {{Protocol{"eager", test::no_limit, 5e-7, 7e-11, 2e-7}}});
  test::set_channel(machine, standard_level::network, {{Protocol{"eager", test::no_limit, 2.4e-6, 4e-10, 5e-7}}});
  const auto ranking =
      rank_strategies(generate_pattern("random:ranks=128,bytes=64,degree=64"), Layout::regular(8, 1, 16), machine);
  EXPECT_EQ(ranking.front().strategy.route, "stfw");
  EXPECT_FALSE(ranking.front().strategy.values("dims").empty()) << to_string(ranking.front().strategy);
}

}  // namespace
}  // namespace commpass
