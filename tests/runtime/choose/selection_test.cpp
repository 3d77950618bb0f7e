// Choosing on many ranks against choosing on one.
#include "runtime/choose/selection.hpp"
#include "model/pattern/pattern.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "model/base/error.hpp"
#include "model/pattern/neighbor_bytes.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/choose/shared_pricing.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "selector/choose/explain.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/profile_note.hpp"

namespace commpass {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

Machine machine_of_test() {
  Machine machine;
  machine.name = "test";
  constexpr auto largest = std::numeric_limits<Bytes>::max();
  machine.host.by_level[standard_level::network] =
      Channel{{Protocol{"short", 512, 2e-6, 1e-9, 1e-6}, Protocol{"eager", largest, 4e-6, 3e-10, 2e-6}}};
  machine.host.by_level[standard_level::socket] = Channel{{Protocol{"eager", largest, 4e-7, 1e-10, 2e-7}}};
  machine.levels[standard_level::node].up_rate_bytes_per_s = 1e10;
  machine.copy_rate_bytes_per_s = 1e10;
  machine.copy_block_s = 2e-8;
  return machine;
}

class Selection : public testing::Test {
 protected:
  Rank rank() const { return comm_.rank(); }
  int ranks() const { return comm_.size(); }
  MPI_Comm comm() const { return comm_.get(); }

  Decision select(const Pattern& pattern, const Layout& layout, const SelectionOptions& options) {
    const auto local = test::local_part(pattern, rank(), 0, 1);
    return select_strategy(comm(), layout, machine_, local.sends, options);
  }

  /// What one process decides by the totals of a pattern.
  std::vector<Candidate> rank_by_totals(const Pattern& pattern, const Layout& layout) {
    return rank_suggestions(leave_out_open_forms(random_pricer(random_pattern(totals_of(pattern, layout), layout),
                                                               layout, machine_, CostModel::burst, {})),
                            offered_strategies(layout, machine_, CostModel::burst), layout, layout.ranks());
  }

  /// With what the profile lacks beside it.
  std::string explained(const std::vector<Candidate>& ranking, const Layout& layout, const Calls& calls) const {
    const auto note = profile_note(machine_, layout, CostModel::burst, ranking);
    return explain(ranking, 0, calls) + (note.empty() ? "" : "Note: " + note + ".\n");
  }

  Machine machine_ = machine_of_test();

 private:
  OwnCommunicator comm_{MPI_COMM_WORLD};
};

TEST_F(Selection, OnManyRanksIsThatOfOneProcess) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const auto layout = test::random_layout(ranks(), seed);
    const auto pattern = test::random_pattern(ranks(), seed + 100);
    for (const auto& calls : {Calls(), Calls(1), Calls(50)}) {
      SCOPED_TRACE(layout.describe() + ", seed " + std::to_string(seed) + ", calls " +
                   std::to_string(calls.value_or(0)));
      const auto decision = select(pattern, layout, {CostModel::burst, calls, no_limit, 1});
      const auto ranking = rank_strategies(pattern, layout, machine_, CostModel::burst, {}, calls);
      EXPECT_EQ(decision.strategy, to_string(ranking.front().strategy));
      EXPECT_EQ(decision.predicted_s, ranking.front().cost.seconds) << "to the last bit";
      EXPECT_EQ(decision.explanation, explained(ranking, layout, calls));
    }
  }
}

TEST_F(Selection, KnowsTheGridOfAStencil) {
  if (ranks() < 6 || ranks() % 2 != 0) GTEST_SKIP() << "a rank is next to all others";
  machine_.host.by_level[standard_level::network] =
      Channel{{Protocol{"eager", std::numeric_limits<Bytes>::max(), 1e-4, 1e-9, 1e-4}}};
  const Grid grid{{2, ranks() / 2}, {true, true}};
  const Neighborhood neighborhood{grid, {1, 0, 0, 1, 1, 1}, {}};
  const auto pattern = pattern_of(neighborhood, NeighborBytes::equal(neighborhood, 8, false));
  const auto layout = Layout::with_ppn(ranks(), 1);
  const auto ranking = rank_strategies(pattern, layout, machine_);
  const auto is_on_grid = [](const Candidate& c) { return c.strategy.route == "cartesian"; };
  EXPECT_TRUE(std::ranges::any_of(ranking, is_on_grid));
  for (const auto& known : {std::optional<Grid>(), std::optional(grid)}) {
    SelectionOptions options{CostModel::burst, {}, no_limit, 1};
    options.grid = known;
    const auto decision = select(pattern, layout, options);
    EXPECT_EQ(decision.strategy, to_string(ranking.front().strategy));
    EXPECT_EQ(decision.explanation, explained(ranking, layout, {}));
    EXPECT_NE(decision.explanation.find("cartesian,dims="), std::string::npos) << decision.explanation;
  }
}

TEST_F(Selection, BeyondTheLimitIsByStatisticsAndSaysSo) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto layout = test::random_layout(ranks(), seed);
    const auto pattern = test::random_pattern(ranks(), seed + 100);
    const auto edges = std::ssize(pattern.edges);
    if (edges == 0) continue;
    EXPECT_EQ(select(pattern, layout, {CostModel::burst, {}, edges, 1}).explanation.find("statistics"),
              std::string::npos)
        << "just within the limit";
    const auto decision = select(pattern, layout, {CostModel::burst, {}, edges - 1, 1});
    const auto ranking = rank_by_totals(pattern, layout);
    EXPECT_EQ(decision.strategy, to_string(ranking.front().strategy));
    EXPECT_EQ(decision.predicted_s, ranking.front().cost.seconds);
    EXPECT_NE(decision.explanation.find("Chosen by statistics, because " + std::to_string(edges) +
                                        " edges are more than the " + std::to_string(edges - 1)),
              std::string::npos)
        << decision.explanation;
  }
}

TEST_F(Selection, FollowsTheOptionsOfRankZero) {
  const auto layout = Layout::with_ppn(ranks(), 2);
  const auto pattern = test::random_pattern(ranks(), 7);
  const bool is_first = rank() == 0;
  const auto decision = select(
      pattern, layout,
      {is_first ? CostModel::postal : CostModel::burst, is_first ? Calls(3) : Calls(), is_first ? no_limit : 0, 1});
  const auto ranking = rank_strategies(pattern, layout, machine_, CostModel::postal, {}, Calls(3));
  EXPECT_EQ(decision.strategy, to_string(ranking.front().strategy));
  EXPECT_EQ(decision.predicted_s, ranking.front().cost.seconds);
}

TEST_F(Selection, RefusesCallsThatAreNoNumberOfExchanges) {
  for (const double calls :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(select({ranks(), {}}, Layout::with_ppn(ranks(), 2), {CostModel::burst, calls, no_limit, 1}), Error)
        << calls;
}

TEST_F(Selection, ByStatisticsDeliversWhatTheNaiveExchangeDelivers) {
  Communicator communicator(MPI_COMM_WORLD, machine_, {Layout::with_ppn(ranks(), 3)});
  auto local = test::local_part(test::random_pattern(ranks(), 11), rank(), 2, 5);
  ExchangeOptions options;
  options.most_edges_gathered = 0;
  options.calls = 10;
  auto exchange = communicator.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(),
                                                 local.receives, options);
  test::fill(local, rank(), 1);
  const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
  exchange.start();
  exchange.wait();
  EXPECT_EQ(local.receive_buffer, expected);
}

TEST_F(Selection, EndsWithAnErrorIfARankFailsToPriceItsShare) {
  const Pricer price = [&](std::span<const Strategy> strategies) -> std::vector<Candidate> {
    if (rank() == ranks() - 1) throw std::bad_alloc();
    return std::vector<Candidate>(strategies.size(), Candidate{parse_strategy("standard"), {}});
  };
  std::string message;
  try {
    share_pricing(comm(), std::span(&price, 1), [&](std::span<const Pricer> shared) {
      shared.front()(suggest_strategies(Layout::with_ppn(ranks(), 2)));
    });
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_EQ(message.find("pricing strategies: ") == 0, rank() == 0) << message;
  EXPECT_NO_THROW(select({ranks(), {}}, Layout::with_ppn(ranks(), 2), {CostModel::burst, {}, no_limit, 1}))
      << "the communicator works on";
}

TEST_F(Selection, PricesStrategiesOfOneScheduleOnOneRank) {
  std::vector<Strategy> strategies;
  for (const auto* text :
       {"standard", "stfw,n=1", "standard,window=1", "tuna,radix=2", "standard,window=3", "tuna,radix=2,window=2"})
    strategies.push_back(parse_strategy(text));
  std::set<std::string> routes;  // priced here
  std::size_t priced = 0;
  const Pricer price = [&](std::span<const Strategy> mine) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : mine) {
      routes.insert(strategy.route);
      candidates.push_back({strategy, {}});
    }
    priced += mine.size();
    return candidates;
  };
  share_pricing(comm(), std::span(&price, 1), [&](std::span<const Pricer> shared) {
    const auto candidates = shared.front()(strategies);
    for (std::size_t i = 0; i < strategies.size(); ++i)
      EXPECT_EQ(candidates[i].strategy, strategies[i]) << "in the given order";
  });
  const int here[2] = {static_cast<int>(routes.size()), static_cast<int>(priced)};
  int all[2] = {};
  MPI_Allreduce(here, all, 2, MPI_INT, MPI_SUM, comm());
  EXPECT_EQ(all[0], 3) << "no route on two ranks";
  EXPECT_EQ(all[1], 6) << "nothing priced twice";
}

TEST_F(Selection, SharesTheWorkOfSeveralPricers) {
  const auto times = [](double seconds) {
    return Pricer([=](std::span<const Strategy> strategies) {
      std::vector<Candidate> candidates;
      for (const auto& strategy : strategies)
        candidates.push_back({strategy, {seconds * (1 + strategy.window.rounds), {}}});
      return candidates;
    });
  };
  const std::vector<Pricer> prices{times(1), times(10)};
  const std::vector strategies{parse_strategy("standard,window=4"), parse_strategy("tuna,radix=2,window=3")};
  share_pricing(comm(), prices, [&](std::span<const Pricer> shared) {
    ASSERT_EQ(shared.size(), 2U);
    for (const std::size_t pricer : {1, 0, 1}) {
      const auto candidates = shared[pricer](strategies);
      ASSERT_EQ(candidates.size(), 2U);
      EXPECT_EQ(candidates[0].cost.seconds, pricer == 0 ? 5 : 50);
      EXPECT_EQ(candidates[1].cost.seconds, pricer == 0 ? 4 : 40);
    }
    EXPECT_TRUE(shared[0]({}).empty());
  });
}

TEST_F(Selection, ChoosesEvaluatorsThatAreSpreadOverTheNodes) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto layout = test::random_layout(ranks(), seed);
    for (const int most : {1, 2, 5, 100})
      for (const int of_node : {1, 2, 100}) {
        const auto evaluators = choose_evaluators(layout, most, of_node);
        EXPECT_EQ(evaluators.front(), 0);
        EXPECT_EQ(std::set<Rank>(evaluators.begin(), evaluators.end()).size(), evaluators.size());
        std::map<int, int> on_node;
        for (const Rank evaluator : evaluators) ++on_node[layout.node(evaluator)];
        int possible = 0, most_there = 0;
        for (int node = 0; node < layout.nodes(); ++node) possible += std::min(of_node, layout.ppn(node));
        for (const auto& [node, count] : on_node) {
          EXPECT_LE(count, of_node);
          most_there = std::max(most_there, count);
        }
        EXPECT_EQ(static_cast<int>(evaluators.size()), std::min(most, possible));
        for (int node = 0; node < layout.nodes(); ++node)
          EXPECT_GE(on_node[node], std::min(most_there - 1, layout.ppn(node)))
              << "no node has two more than another that could have one more";
      }
  }
}

TEST_F(Selection, SharesAPatternWithAllRanks) {
  const auto whole = test::random_pattern(ranks(), 21);
  auto pattern = rank() == 0 ? whole : Pattern{};
  share_pattern(comm(), pattern);
  EXPECT_EQ(pattern.ranks, whole.ranks);
  EXPECT_EQ(pattern.edges, whole.edges);
}

}  // namespace
}  // namespace commpass
