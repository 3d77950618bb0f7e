// What a grid of ranks brings to the choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "model/base/error.hpp"
#include "model/pattern/generate.hpp"
#include "model/pattern/neighborhood_counts.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"
#include "selector/choose/find_grid.hpp"
#include "selector/choose/grid_mapping.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/halo_choice.hpp"
#include "selector/choose/neighborhood_choice.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;

Grid torus(std::vector<int> dims) {
  const std::vector<bool> periodic(dims.size(), true);
  return {std::move(dims), periodic};
}

// The order of sizes is no matter of the grid: who plans alone would not keep it.
TEST(WaysOnAGrid, AreTheCombiningOnesAndPlainStandard) {
  for (const auto* text : {"standard", "cartesian,dims=2x3"}) EXPECT_TRUE(is_way_on_grid(parse_strategy(text))) << text;
  for (const auto* text : {"standard,large-first", "standard,window=2", "standard,staggered", "two-step"})
    EXPECT_FALSE(is_way_on_grid(parse_strategy(text))) << text;
}

TEST(NodeBlocks, AreFoundWhereNodesAreBlocksOfTheGrid) {
  EXPECT_EQ(node_blocks(torus({4, 4, 8}), Layout::with_ppn(128, 16)), (std::vector{1, 2, 8}));
  EXPECT_EQ(node_blocks(torus({4, 4, 8}), Layout::with_ppn(128, 12)), std::nullopt) << "nodes differ";
  EXPECT_EQ(node_blocks(torus({6, 6}), Layout::with_ppn(36, 4)), std::nullopt) << "nodes begin within rows";
  EXPECT_EQ(node_blocks(torus({4, 4}), Layout::with_ppn(16, 1)), std::nullopt);
}

TEST(SocketBlocks, AreFoundWhereSocketsAreBlocksOfTheGrid) {
  EXPECT_EQ(socket_blocks(torus({4, 4, 8}), Layout::regular(8, 2, 8)), (std::vector{1, 1, 8}));
  EXPECT_EQ(socket_blocks(torus({4, 4}), Layout::regular(1, 4, 4)), (std::vector{1, 4})) << "of a single node, too";
  EXPECT_EQ(socket_blocks(torus({4, 4}), Layout::regular(4, 1, 4)), std::nullopt) << "they are nodes";
}

std::vector<std::string> names_of(const std::vector<Strategy>& strategies) {
  std::vector<std::string> names;
  for (const auto& strategy : strategies) names.push_back(to_string(strategy));
  return names;
}

TEST(GridStrategies, AreWaysInWhichDimensionsShareStages) {
  const Neighborhood neighborhood{torus({4, 4, 4}), box_offsets(3, 1), {}};
  EXPECT_THAT(names_of(suggest_on_grid(neighborhood, Layout::with_ppn(64, 1))),
              ElementsAre("cartesian,dims=4x4x4,stages=1x2x3", "cartesian,dims=4x4x4,stages=1x1x2",
                          "cartesian,dims=4x4x4,stages=1x2x2"));
  EXPECT_THAT(names_of(suggest_on_grid(neighborhood, Layout::with_ppn(64, 16))),
              Contains("cartesian,dims=4x4x4,blocks=1x4x4,stages=2x2x2x1x1x1"));
  EXPECT_THAT(names_of(suggest_on_grid(neighborhood, Layout::regular(4, 2, 8))),
              AllOf(Contains("cartesian,dims=4x4x4,blocks=1x4x4,stages=2x2x2x1x1x1"),
                    Contains("cartesian,dims=4x4x4,blocks=1x2x4,stages=2x2x2x1x1x1")))
      << "a block of a node, and of a socket";
  const Neighborhood line{torus({1, 8, 1}), {0, 1, 0}, {}};
  for (const auto& name : names_of(suggest_on_grid(line, Layout::with_ppn(8, 1))))
    EXPECT_NO_THROW(parse_strategy(name)) << name;
}

TEST(GridStrategies, HaveThePapersNames) {
  // The coordinates of the first dimension are the most.
  const Neighborhood neighborhood{torus({5, 5, 5}), {-2, 1, 1, -1, 1, 1, 1, 1, 1, 2, 1, 1}, {}};
  EXPECT_EQ(on_grid("trivial", neighborhood), "standard");
  EXPECT_EQ(on_grid("trivial,window=4", neighborhood), "standard,window=4");
  EXPECT_EQ(on_grid("cartesian", neighborhood), "cartesian,dims=5x5x5,stages=3x1x2");
  EXPECT_EQ(on_grid("cartesian,dims=5x5x5", neighborhood), "cartesian,dims=5x5x5");
  EXPECT_EQ(on_grid("two-step", neighborhood), "two-step");
}

TEST(GridMapping, GivesNodesCubesOfABox) {
  const Neighborhood neighborhood{torus({8, 8, 8}), box_offsets(3, 1), {}};
  const auto layout = Layout::with_ppn(512, 64);
  const auto mapping = map_blocks_to_nodes(neighborhood, layout);
  ASSERT_TRUE(mapping);
  EXPECT_THAT(mapping->blocks, ElementsAre(4, 4, 4));
  EXPECT_EQ(mapping->before, 8 * 64 * 18) << "planes: 9 of a rank's neighbours are above it and 9 below";
  // Of the 4^3·27 pairs (4 + 3·2)^3 stay in a cube.
  EXPECT_EQ(mapping->after, 8 * (64 * 27 - 10 * 10 * 10));
  auto sorted = mapping->places;
  std::ranges::sort(sorted);
  for (Rank rank = 0; rank < 512; ++rank) EXPECT_EQ(sorted[static_cast<std::size_t>(rank)], rank);
  EXPECT_EQ(weight_between(neighborhood, moved(layout, *mapping), true), mapping->after);
}

TEST(GridMapping, GivesSocketsBlocksOfTheBlocksOfNodes) {
  const Neighborhood neighborhood{torus({8, 8, 8}), box_offsets(3, 1), {}};
  const auto layout = Layout::regular(8, 8, 8);
  const auto mapping = map_blocks_to_nodes(neighborhood, layout);
  ASSERT_TRUE(mapping);
  EXPECT_THAT(mapping->blocks, ElementsAre(4, 4, 4));
  EXPECT_THAT(mapping->socket_blocks, ElementsAre(2, 2, 2));
  const auto after = moved(layout, *mapping);
  // Of a node's 10^3 pairs that stay in it, those that stay in a socket are 4^3 in each of 8.
  EXPECT_EQ(mapping->sockets_after, 8 * (10 * 10 * 10 - 8 * 4 * 4 * 4));
  EXPECT_EQ(weight_between(neighborhood, after, false), mapping->sockets_after);
  EXPECT_LT(mapping->sockets_after, 8 * (10 * 10 * 10 - 8 * 40)) << "those of ranks in order, blocks of 1 x 2 x 4";
  EXPECT_NE(describe(*mapping).find("each socket has one of 2x2x2"), std::string::npos);
}

TEST(GridMapping, MapsTheSocketsOfASingleNode) {
  const Neighborhood columns{torus({4, 4}), {1, 0, -1, 0}, {}};
  const auto mapping = map_blocks_to_nodes(columns, Layout::regular(1, 4, 4));
  ASSERT_TRUE(mapping);
  EXPECT_THAT(mapping->socket_blocks, ElementsAre(4, 1));
  EXPECT_EQ(mapping->sockets_before, 32);
  EXPECT_EQ(mapping->sockets_after, 0);
  EXPECT_FALSE(map_blocks_to_nodes(columns, Layout::regular(1, 1, 16)));
}

TEST(GridMapping, LeavesRanksWhereThatIsBest) {
  EXPECT_FALSE(map_blocks_to_nodes({torus({8, 8}), {0, 1}, {}}, Layout::with_ppn(64, 8))) << "rows are best";
  EXPECT_FALSE(map_blocks_to_nodes({torus({8, 8}), {1, 0}, {}}, Layout::with_ppn(64, 12))) << "uneven nodes";
  const auto columns = map_blocks_to_nodes({torus({8, 8}), {1, 0, 0, 1}, {5, 1}}, Layout::with_ppn(64, 8));
  ASSERT_TRUE(columns) << "weights count";
  EXPECT_THAT(columns->blocks, ElementsAre(8, 1));
}

TEST(NeighborhoodChoice, CombinesSmallBlocksAndNotLargeOnes) {
  const Neighborhood neighborhood{torus({8, 8, 8}), box_offsets(3, 1), {}};
  const auto layout = Layout::with_ppn(512, 1);
  const auto machine = test::small_cluster();
  const NeighborhoodPricer pricer(neighborhood, NeighborBytes::equal(neighborhood, 1, false), layout, machine,
                                  CostModel::burst);
  const auto classes = choose_by_size(pricer);
  EXPECT_EQ(to_string(class_of(classes, 1).strategy), "cartesian,dims=8x8x8,stages=1x2x3");
  EXPECT_EQ(to_string(class_of(classes, 1e7).strategy), "standard");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    EXPECT_TRUE(i == 0 || classes[i - 1].from_bytes < classes[i].from_bytes);
    // A class begins where its strategy becomes the cheaper one.
    if (i == 0) continue;
    const auto at = classes[i].from_bytes, below = at - std::max<Bytes>(1, at / 20);
    EXPECT_LE(pricer.price(classes[i].strategy, at).cost.seconds,
              pricer.price(classes[i - 1].strategy, at).cost.seconds);
    EXPECT_LE(pricer.price(classes[i - 1].strategy, below).cost.seconds,
              pricer.price(classes[i].strategy, below).cost.seconds);
  }
  EXPECT_THROW(pricer.price(parse_strategy("two-step"), 1), NotApplicable);
}

TEST(NeighborhoodChoice, IsTheCheapestUpToBlocksOf16MiB) {
  const Neighborhood neighborhood{torus({8, 8}), box_offsets(2, 1), {}};
  const auto layout = Layout::with_ppn(64, 1);
  bool changes_at_last = false;
  for (const double times_latency : {1, 16, 256, 4096}) {  // the longer a latency, the larger the blocks to combine
    auto machine = test::small_cluster();
    machine.verdict.emplace();  // its copies are measured, those of large blocks, too
    for (auto& protocol : machine.host.by_level[standard_level::network]->protocols) {
      protocol.alpha_s *= times_latency;
      protocol.alpha_next_s *= times_latency;
    }
    const NeighborhoodPricer pricer(neighborhood, NeighborBytes::equal(neighborhood, 1, false), layout, machine,
                                    CostModel::burst);
    const auto classes = choose_by_size(pricer);
    for (const Bytes times : {Bytes{1}, Bytes{1} << 12, Bytes{1} << 22, Bytes{1} << 24}) {
      const auto& chosen = class_of(classes, static_cast<double>(times)).strategy;
      EXPECT_LE(pricer.price(chosen, times).cost.seconds, 1.0001 * pricer.rank({}, times).front().cost.seconds)
          << times << " B, " << times_latency << " times the latency: " << to_string(chosen);
    }
    changes_at_last = changes_at_last || classes.back().from_bytes > Bytes{1} << 22;
  }
  EXPECT_TRUE(changes_at_last) << "on one of these machines between the last two sizes that are priced";
}

TEST(NeighborhoodChoice, TakesAnotherStrategyWhereItIsCheaper) {
  // Nodes have no blocks of the grid, and messages between them are expensive.
  const Neighborhood neighborhood{torus({6, 6}), box_offsets(2, 2), {}};
  std::vector<int> nodes;
  for (int rank = 0; rank < 36; ++rank) nodes.push_back(rank * 5 / 7 % 4);
  const Layout layout(nodes);
  const auto machine = test::small_cluster();
  const NeighborhoodPricer pricer(neighborhood, NeighborBytes::equal(neighborhood, 1, false), layout, machine,
                                  CostModel::burst);
  const auto cheapest_at = [&](Bytes times, const Strategy& strategy) {
    return pricer.by_edges(std::span(&strategy, 1), times).front().cost.seconds;
  };
  std::vector<Strategy> others;
  for (const auto times : probed_times) {
    auto strategies = offered_strategies(layout, machine, CostModel::burst);
    for (const auto& strategy : suggest_on_grid(neighborhood, layout)) strategies.push_back(strategy);
    auto ranking = pricer.by_edges(strategies, times);
    std::ranges::sort(ranking, {}, [](const Candidate& c) { return c.cost.seconds; });
    for (const auto& strategy : promising_others(ranking, neighborhood, layout)) others.push_back(strategy);
  }
  ASSERT_FALSE(others.empty());
  const auto on_grid_alone = choose_by_size(pricer), among_all = choose_by_size(pricer, others);
  bool is_taken = false;
  for (const Bytes times : {16, 100, 1024, 5000, 65536}) {
    const auto& own = class_of(on_grid_alone, static_cast<double>(times)).strategy;
    const auto& chosen = class_of(among_all, static_cast<double>(times)).strategy;
    is_taken = is_taken || !is_way_on_grid(chosen);
    EXPECT_LE(cheapest_at(times, chosen), 1.02 * cheapest_at(times, own)) << times;
  }
  EXPECT_TRUE(is_taken);
}

TEST(NeighborhoodChoice, KeepsTheLimitOfMessagesInFlightAsByEdges) {
  const Neighborhood neighborhood{torus({8, 8}), box_offsets(2, 1), {}};
  std::vector strategies{parse_strategy("standard")};
  for (const int ppn : {1, 8}) {
    const auto layout = Layout::with_ppn(64, ppn);
    for (const auto& strategy : suggest_on_grid(neighborhood, layout)) strategies.push_back(strategy);
    for (const auto& limits : {Limits{.messages_off_node = 3}, Limits{.messages = 5}, Limits{.partners = 4},
                               Limits{.messages_off_node = 1, .buffer_bytes = 40000}}) {
      auto machine = test::small_cluster();
      machine.limits = limits;
      const NeighborhoodPricer pricer(neighborhood, NeighborBytes::equal(neighborhood, 1, false), layout, machine,
                                      CostModel::burst);
      bool is_any_limited = false;
      for (const Bytes times : {8, 1000, 100000}) {
        const auto by_edges = pricer.by_edges(strategies, times);
        for (const auto& edges : by_edges) {
          const auto sampled = pricer.price(edges.strategy, times);
          EXPECT_EQ(as_run(sampled), as_run(edges)) << to_string(edges.strategy) << " " << times;
          EXPECT_EQ(sampled.demand, edges.demand) << to_string(edges.strategy) << " " << times;
          EXPECT_STREQ(sampled.exceeded_limit, edges.exceeded_limit) << to_string(edges.strategy) << " " << times;
          is_any_limited = is_any_limited || sampled.limited_window || sampled.exceeded_limit;
        }
        EXPECT_EQ(as_run(pricer.rank(strategies, times).front()),
                  as_run(prefer_simplest_of_ties(by_edges, machine).front()))
            << times;
      }
      EXPECT_TRUE(is_any_limited);
    }
  }
}

TEST(NeighborhoodChoice, TellsWhatRanksCanBeTold) {
  const auto layout = Layout::with_ppn(16, 4);
  for (const auto* strategy : {"two-step", "stfw,n=2,placed", "tuna,radix=2", "standard,window=4"})
    EXPECT_TRUE(can_be_told(parse_strategy(strategy), layout)) << strategy;
  for (const auto* strategy : {"mpi", "three-step", "split,cap=2KiB", "two-step,staggered"})
    EXPECT_FALSE(can_be_told(parse_strategy(strategy), layout)) << strategy;
}

Pattern stencil(const Neighborhood& neighborhood) {
  auto pattern = pattern_of(neighborhood, NeighborBytes::equal(neighborhood, 8, false));
  std::mt19937 random(1);
  std::ranges::shuffle(pattern.edges, random);
  for (auto& edge : pattern.edges) edge.bytes += edge.source % 3;
  return pattern;
}

TEST(FindNeighborhood, FindsTheGridOfAStencil) {
  for (const bool is_periodic : {true, false})
    for (const auto& dims : {std::vector{8, 8}, {3, 4, 5}, {4, 16}, {4, 3, 3, 3}}) {
      const Neighborhood given{{dims, std::vector<bool>(dims.size(), is_periodic)}, box_offsets(dims.size(), 1), {}};
      const auto found = find_neighborhood(stencil(given));
      ASSERT_TRUE(found) << describe(given.grid);
      EXPECT_EQ(combining_counts(*found).rounds, static_cast<int>(2 * dims.size())) << describe(found->grid);
      EXPECT_EQ(pattern_of(*found, NeighborBytes::equal(*found, 8, false)).edges.size(), stencil(given).edges.size());
      EXPECT_TRUE(neighborhood_on(given.grid, stencil(given)));
    }
}

TEST(FindNeighborhood, FindsNoneWhereRanksDifferOrThereIsNothingToCombine) {
  const Neighborhood box{torus({8, 8}), box_offsets(2, 1), {}};
  auto pattern = stencil(box);
  pattern.edges.pop_back();
  EXPECT_FALSE(find_neighborhood(pattern)) << "an edge is missing";
  EXPECT_FALSE(find_neighborhood(pattern, box.grid));
  EXPECT_FALSE(find_neighborhood(stencil({torus({8, 8}), star_offsets(2, 1), {}}))) << "a message a direction anyway";
  EXPECT_FALSE(find_neighborhood(test::alltoall(16, 8)));
  EXPECT_FALSE(find_neighborhood({16, {}}));
  EXPECT_FALSE(find_neighborhood({1, {}}));
}

TEST(FindNeighborhood, OffersTheWaysOnTheGridForAnyPattern) {
  const Neighborhood box{torus({4, 4, 4}), box_offsets(3, 1), {}};
  const auto ranking = rank_strategies(stencil(box), Layout::with_ppn(64, 1), test::small_cluster());
  EXPECT_THAT(names_of(strategies_for(stencil(box), Layout::with_ppn(64, 1), test::small_cluster(), CostModel::burst)),
              Contains("cartesian,dims=4x4x4,stages=1x2x3"));
  const auto is_on_grid = [](const Candidate& c) { return c.strategy.route == "cartesian"; };
  EXPECT_TRUE(std::ranges::any_of(ranking, is_on_grid));
  // 27 points on 6 x 5 x 4 ranks: hardly any other cut of the ranks comes near message combining.
  const Neighborhood uneven{{{6, 5, 4}, {false, true, true}}, box_offsets(3, 1), {}};
  const auto of_uneven = rank_strategies(stencil(uneven), Layout::with_ppn(120, 1), test::small_cluster());
  const auto best_on_grid = std::ranges::find_if(of_uneven, is_on_grid);
  ASSERT_NE(best_on_grid, of_uneven.end());
  EXPECT_LE(best_on_grid->cost.seconds, 1.1 * of_uneven.front().cost.seconds) << to_string(of_uneven.front().strategy);
}

TEST(HaloChoice, TakesFewMessagesForSmallHalosAndFewStagesForNone) {
  const HaloArray array{{10, 10, 10}, {1, 1, 1}, 8};
  const auto ranking =
      rank_halos(torus({4, 4, 4}), array, Layout::with_ppn(64, 1), test::small_cluster(), CostModel::burst);
  ASSERT_EQ(ranking.size(), 4U);
  EXPECT_THAT(ranking.front().stages, ElementsAre(2, 1, 0));
  EXPECT_EQ(ranking.front().messages, 6);
  EXPECT_EQ(ranking.back().messages, 26);
  const HaloArray flat{{10, 10, 10}, {0, 1, 0}, 8};
  EXPECT_EQ(rank_halos(torus({4, 4, 4}), flat, Layout::with_ppn(64, 1), test::small_cluster(), CostModel::burst)
                .front()
                .messages,
            2);
}

TEST(CartesianGenerator, ReadsOffsetsAndRefusesOtherTexts) {
  const auto pattern = generate_pattern("cartesian:dims=4x4,box=1,bytes=8,periodic=1x0,payload=same");
  EXPECT_EQ(pattern.ranks, 16);
  EXPECT_EQ(pattern.edges.size(), 8U * 8 + 8U * 5) << "ranks at an edge have 5 neighbours";
  const auto given = parse_cartesian("cartesian:dims=64x64x64x64,offsets=1x0x0x0;0x-1x2x0,bytes=1KiB");
  ASSERT_TRUE(given);
  EXPECT_THAT(given->neighborhood.offsets, ElementsAre(1, 0, 0, 0, 0, -1, 2, 0));
  EXPECT_FALSE(parse_cartesian("alltoall:ranks=4,bytes=1"));
  for (const auto* text :
       {"cartesian:dims=4x4,bytes=8", "cartesian:dims=4x4,box=1,star=1,bytes=8", "cartesian:dims=4x0,box=1,bytes=8",
        "cartesian:dims=4x4,offsets=1,bytes=8", "cartesian:dims=4x4,offsets=1xa,bytes=8",
        "cartesian:dims=4x4,box=1,periodic=1x0x1,bytes=8", "cartesian:dims=4x4,box=1,periodic=maybe,bytes=8",
        "cartesian:dims=4x4x4x4x4x4,cube=100,bytes=8", "cartesian:dims=8192x8192,box=1,bytes=8",
        "cartesian:dims=4x4,box=0,bytes=8"})
    EXPECT_THROW(parse_cartesian(text), InputError) << text;
}

}  // namespace
}  // namespace commpass
