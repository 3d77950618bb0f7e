#include "model/base/format.hpp"
#include "model/pattern/neighbor_bytes.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "model/cartesian/draw_neighborhood.hpp"
#include "model/pattern/neighborhood_counts.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/grid_route.hpp"
#include "model/schedule/schedule.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using testing::ElementsAre;

Grid torus(std::vector<int> dims) {
  const std::vector<bool> periodic(dims.size(), true);
  return {std::move(dims), periodic};
}

TEST(Grid, NumbersRanksAsMpiDoes) {
  const Grid grid{{2, 3, 4}, {false, true, false}};
  EXPECT_EQ(grid.ranks(), 24);
  EXPECT_THAT(grid.weights(), ElementsAre(12, 4, 1));
  EXPECT_THAT(grid.coordinates(23), ElementsAre(1, 2, 3));
  EXPECT_EQ(grid.rank_at(std::vector{1, -1, 3}), 23);
  EXPECT_EQ(grid.rank_at(std::vector{2, 0, 0}), std::nullopt);
  for (Rank rank = 0; rank < 24; ++rank) EXPECT_EQ(grid.rank_at(grid.coordinates(rank)), rank);
}

TEST(Grid, GoesAroundPeriodicDimensionsAsOftenAsAnOffsetSays) {
  const Grid grid{{4, 3}, {true, false}};
  EXPECT_EQ(grid.relative(0, std::vector{-9, 2}), grid.rank_at(std::vector{3, 2}));
  EXPECT_EQ(grid.relative(0, std::vector{std::numeric_limits<int>::min(), 0}), 0);
  EXPECT_EQ(grid.relative(0, std::vector{0, std::numeric_limits<int>::max()}), std::nullopt);
  EXPECT_THAT(grid.offset_between(0, 9), ElementsAre(-1, 0));
}

TEST(Grid, RefusesInvalidSizes) {
  EXPECT_THROW(Grid{}.validate("test"), InputError);
  EXPECT_THROW((Grid{{4, 0}, {true, true}}).validate("test"), InputError);
  EXPECT_THROW((Grid{{4, 4}, {true}}).validate("test"), InputError);
  EXPECT_THROW((Grid{{1 << 20, 1 << 20}, {true, true}}).validate("test"), InputError);
}

// Table 1 of the Cartesian paper, in which the first ratio is misprinted as 1.167.
struct Row {
  int d, n, t, rounds, volume;
  double ratio;
};
constexpr Row table_1[] = {{2, 3, 8, 4, 12, 1.667},     {2, 4, 15, 6, 24, 1.250},      {2, 5, 24, 8, 40, 1.133},
                           {3, 3, 26, 6, 54, 0.778},    {3, 4, 63, 9, 144, 0.688},     {3, 5, 124, 12, 300, 0.646},
                           {4, 3, 80, 8, 216, 0.541},   {4, 4, 255, 12, 768, 0.477},   {4, 5, 624, 16, 2000, 0.443},
                           {5, 3, 242, 10, 810, 0.411}, {5, 4, 1023, 15, 3840, 0.358}, {5, 5, 3124, 20, 12500, 0.331}};

Neighborhood of_row(const Row& row) {
  const auto d = static_cast<std::size_t>(row.d);
  return {torus(std::vector(d, row.n)), cube_offsets(d, row.n, -1), {}};
}

TEST(CombiningCounts, AreThoseOfTable1) {
  for (const auto& row : table_1) {
    const auto counts = combining_counts(of_row(row));
    EXPECT_EQ(counts.neighbors, row.t);
    EXPECT_EQ(counts.rounds, row.rounds);
    EXPECT_EQ(counts.alltoall_volume, row.volume);
    EXPECT_DOUBLE_EQ(combining_cut_off(counts, 2e-6, 1e-9), 2e-6 / 1e-9 * (row.t - row.rounds) / (row.volume - row.t));
    // The paper's ratios count the zero offset as a neighbour.
    auto with_zero = counts;
    ++with_zero.neighbors;
    EXPECT_NEAR(combining_cut_off(with_zero, 1, 1), row.ratio, 6e-4) << row.d << " " << row.n;
    EXPECT_EQ(tree_edges(of_row(row), increasing_dimensions(of_row(row))), row.t);
  }
}

/// What each rank sends: messages, and blocks of one byte.
struct Sent {
  std::int64_t messages = 0, bytes = 0;
};
Sent sent_by_each(const Schedule& schedule) {
  std::vector<Sent> sent(static_cast<std::size_t>(schedule.ranks));
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) {
      ++sent[static_cast<std::size_t>(message.from)].messages;
      sent[static_cast<std::size_t>(message.from)].bytes += message.bytes;
    }
  for (const auto& other : sent) {
    EXPECT_EQ(other.messages, sent.front().messages);
    EXPECT_EQ(other.bytes, sent.front().bytes);
  }
  return sent.front();
}

TEST(CartesianSchedules, SendWhatTable1Says) {
  for (const auto& row : table_1) {
    const auto neighborhood = of_row(row);
    if (neighborhood.grid.ranks() * row.t > 1 << 18) continue;  // those by one rank alone, below
    const auto layout = Layout::with_ppn(neighborhood.grid.ranks(), 1);
    const auto name = fmt::format("cartesian,dims={}", join(neighborhood.grid.dims, "x"));
    for (const bool is_same : {false, true}) {
      const auto pattern = pattern_of(neighborhood, NeighborBytes::equal(neighborhood, 1, is_same));
      const auto combined = sent_by_each(test::schedule_of(name, layout, pattern));
      EXPECT_EQ(combined.messages, row.rounds) << name;
      EXPECT_EQ(combined.bytes, is_same ? row.t : row.volume) << name;
      const auto trivial = sent_by_each(test::schedule_of("standard", layout, pattern));
      EXPECT_EQ(trivial.messages, row.t) << name;
      EXPECT_EQ(trivial.bytes, row.t) << name;
    }
  }
}

std::int64_t bytes_sent(const Neighborhood& neighborhood, const std::string& stages) {
  const auto name = fmt::format("cartesian,dims={},stages={}", join(neighborhood.grid.dims, "x"), stages);
  const auto pattern = pattern_of(neighborhood, NeighborBytes::equal(neighborhood, 1, true));
  return sent_by_each(test::schedule_of(name, Layout::with_ppn(pattern.ranks, 1), pattern)).bytes;
}

// Figure 2 of the Cartesian paper; it says 7 of the right tree, which has 7 nodes.
TEST(CartesianSchedules, AreTheAllgatherTreesOfFigure2) {
  const Neighborhood neighborhood{torus({5, 5, 5}), {-2, 1, 1, -1, 1, 1, 1, 1, 1, 2, 1, 1}, {}};
  EXPECT_EQ(tree_edges(neighborhood, {0, 1, 2}), 12);
  EXPECT_EQ(bytes_sent(neighborhood, "1x2x3"), 12);
  EXPECT_THAT(increasing_dimensions(neighborhood), ElementsAre(1, 2, 0));
  EXPECT_EQ(tree_edges(neighborhood, increasing_dimensions(neighborhood)), 6);
  EXPECT_EQ(bytes_sent(neighborhood, "3x1x2"), 6);
}

TEST(CombiningCounts, TellWhenNothingOrEverythingIsGainedByCombining) {
  const Neighborhood star{torus({4, 4}), star_offsets(2, 1), {}};
  EXPECT_EQ(combining_cut_off(combining_counts(star), 1e-6, 1e-9), 0) << "there is nothing to combine";
  const Neighborhood repeated{torus({4, 4}), {1, 0, 1, 0}, {}};
  EXPECT_EQ(combining_cut_off(combining_counts(repeated), 1e-6, 1e-9), std::numeric_limits<double>::infinity());
}

TEST(Neighborhoods, WithMoreEdgesThanAPatternMayHaveAreRefusedEarly) {
  const Neighborhood neighborhood{torus({most_pattern_ranks}), std::vector<int>(257, 1), {}};
  test::expect_sentence(test::error_of([&] { pattern_of(neighborhood, NeighborBytes::equal(neighborhood, 1, false)); }),
                        {"too many edges", "at most 268435456"});
}

TEST(Offsets, AreWhatTheirNamesSay) {
  EXPECT_THAT(star_offsets(2, 1), ElementsAre(-1, 0, 1, 0, 0, -1, 0, 1));
  EXPECT_THAT(box_offsets(1, 2), ElementsAre(-2, -1, 1, 2));
  EXPECT_EQ(box_offsets(3, 1).size(), 3U * 26);
  EXPECT_EQ(cube_offsets(2, 3, -1).size(), 2U * 9);
}

/// By stage, receiver and sender: what the blocks of a message are, in order.
using Told = std::map<std::tuple<int, Rank, Rank>, std::vector<std::tuple<Rank, Rank, std::int32_t, Bytes>>>;

/// As the scheduler has it, which knows all blocks.
Told of_schedule(const Route& route, const Pattern& pattern) {
  Told told;
  auto blocks = blocks_of(pattern);
  std::vector<Rank> at;
  for (const auto& block : blocks) at.push_back(block.source);
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
    const auto departures = depart(route, stage, {}, blocks, at, pattern.ranks);
    for (const auto& message : departures.messages)
      for (auto place = message.first_block; place < message.first_block + message.blocks; ++place) {
        const auto number = departures.order[place];
        const auto& block = blocks[number];
        told[{stage, message.to, message.from}].emplace_back(block.source, block.destination, block.index, block.bytes);
        at[number] = message.to;
      }
  }
  return told;
}

TEST(GridTravel, TellsEachRankItsArrivalsAsTheSchedulerDoes) {
  for (int seed = 1; seed <= 400; ++seed) {
    const test::DrawnNeighborhood drawn(seed, 200);
    const auto& [neighborhood, sizes, way] = drawn;
    const auto pattern = pattern_of(neighborhood, sizes);
    const GridRoute route(way);
    const GridTravel travel(neighborhood, way, sizes);
    Told told;
    for (Rank rank = 0; rank < pattern.ranks; ++rank)
      for (int stage = 0; stage < way.stages(); ++stage)
        for (const auto& arrival : travel.arrivals(rank, stage))
          for (const auto& [block, neighbor] : arrival.travellers)
            told[{stage, rank, arrival.from}].emplace_back(block.source, block.destination, block.index, block.bytes);
    ASSERT_EQ(told, of_schedule(route, pattern))
        << "seed " << seed << ", " << to_string(strategy_of(way)) << " on " << describe(neighborhood.grid);
  }
}

TEST(CartesianStrategies, AreReadAndWritten) {
  for (const auto* text : {"cartesian,dims=4x4", "cartesian,dims=4x1x3,stages=1x1x2",
                           "cartesian,dims=4x6,blocks=2x3,stages=2x2x1x3,window=2"})
    EXPECT_EQ(to_string(parse_strategy(text)), text);
  for (const auto* text : {"cartesian", "cartesian,dims=4x4,stages=1", "cartesian,dims=4x4,stages=1x3",
                           "cartesian,dims=4x4,blocks=2x3,stages=1x1x2x2", "cartesian,dims=4x4,blocks=2x2",
                           "cartesian,dims=4x4,blocks=2x2,stages=1x2", "cartesian,dims=0x4"})
    EXPECT_THROW(parse_strategy(text), InputError) << text;
  EXPECT_THROW(make_route(parse_strategy("cartesian,dims=4x4"), Layout::with_ppn(17, 1)), NotApplicable);
  const auto way = grid_way(parse_strategy("cartesian,dims=4x6,blocks=2x3,stages=2x2x1x3"));
  EXPECT_EQ(grid_way(strategy_of(way)), way);
}

}  // namespace
}  // namespace commpass
