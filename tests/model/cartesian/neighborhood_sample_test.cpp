#include "model/cost/neighborhood_sample.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/format.hpp"
#include "model/pattern/neighborhood_counts.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

Neighborhood box_on(std::vector<int> dims, int count, bool is_periodic = true) {
  const std::vector<bool> periodic(dims.size(), is_periodic);
  const auto d = dims.size();
  return {{std::move(dims), periodic}, cube_offsets(d, count, -1), {}};
}

Cost exact(const std::string& strategy, const Neighborhood& neighborhood, Bytes bytes, bool is_same,
           const Layout& layout, CostModel model) {
  return evaluate(
      test::schedule_of(strategy, layout, pattern_of(neighborhood, NeighborBytes::equal(neighborhood, bytes, is_same))),
      layout, test::small_cluster(), model);
}

Cost sampled(const std::string& strategy, const Neighborhood& neighborhood, Bytes bytes, bool is_same,
             const Layout& layout, CostModel model) {
  const auto part =
      part_of_neighborhood(neighborhood, parse_strategy(strategy), NeighborBytes::equal(neighborhood, bytes, is_same),
                           layout, test::small_cluster());
  return evaluate(sample_of(part), test::small_cluster(), model);
}

// Tables of the paper that are too large for a schedule of all ranks.
TEST(NeighborhoodSample, SendsWhatTable1SaysAlsoOfVeryManyRanks) {
  struct Row {
    std::size_t d;
    int n, messages, alltoall, allgather;
  };
  for (const auto& [d, n, messages, alltoall, allgather] :
       {Row{4, 5, 16, 2000, 624}, Row{5, 4, 15, 3840, 1023}, Row{5, 5, 20, 12500, 3124}})
    for (const int size : {n, 16}) {
      const auto neighborhood = box_on(std::vector(d, size), n);
      const auto layout = Layout::with_ppn(neighborhood.grid.ranks(), 1);
      const auto way = fmt::format("cartesian,dims={}", join(neighborhood.grid.dims, "x"));
      for (const bool is_same : {false, true}) {
        const auto part =
            part_of_neighborhood(neighborhood, parse_strategy(way), NeighborBytes::equal(neighborhood, 1, is_same),
                                 layout, test::small_cluster());
        std::int64_t sent = 0, bytes = 0;
        for (const auto& stage : part.schedule.stages)
          for (const auto& message : stage.messages) {
            if (part.layout.node(message.from) != part.node) continue;
            ++sent;
            bytes += message.bytes;
          }
        EXPECT_EQ(sent, messages);
        EXPECT_EQ(bytes, is_same ? allgather : alltoall);
      }
    }
}

// One rank a node: then all nodes do the same.
TEST(NeighborhoodSample, CostsWhatTheWholeScheduleCostsOnATorus) {
  for (const auto& [dims, count] :
       {std::pair{std::vector{6, 5}, 3}, {std::vector{4, 4, 5}, 3}, {std::vector{4, 5}, 4}}) {
    const auto neighborhood = box_on(dims, count);
    const auto layout = Layout::with_ppn(neighborhood.grid.ranks(), 1);
    const auto name = fmt::format("cartesian,dims={}", join(dims, "x"));
    for (const auto model : {CostModel::burst, CostModel::max_rate, CostModel::postal})
      for (const bool is_same : {false, true})
        for (const Bytes bytes : {8, 400, 100000})
          for (const auto& strategy : {std::string("standard"), name}) {
            const auto whole = exact(strategy, neighborhood, bytes, is_same, layout, model).seconds;
            // Blocks lie in the order of neighbours here and in that of ranks there, so copies may differ in pieces.
            const double near = model == CostModel::burst ? 0.03 : 1e-9;
            EXPECT_NEAR(sampled(strategy, neighborhood, bytes, is_same, layout, model).seconds, whole, near * whole)
                << strategy << " " << bytes << " " << name_of(model);
          }
  }
}

// On a ring of four ranks, blocks for two steps on lie before those for one step and for three. So those of odd steps,
// which travel together, are sent from where they lie; those of two and three steps, which arrive together, are not
// received where they belong.
TEST(BufferPlaces, DecideTheCopies) {
  const Neighborhood ring{{{4}, {true}}, {2, 1, 3}, {}};
  const auto sizes = NeighborBytes::equal(ring, 8, false);
  const auto pattern = pattern_of(ring, sizes);
  const auto route = make_route(parse_strategy("tuna,radix=2"), Layout::with_ppn(4, 1));
  const auto stages_of = [&](const PreparedPattern& prepared) { return make_schedule(*route, {}, prepared).stages; };
  const auto by_neighbors = stages_of(prepare(pattern, buffer_places(ring, sizes))),
             by_ranks = stages_of(prepare(pattern));
  const auto message = [](const Stage& stage, Rank from) {
    return *std::ranges::find(stage.messages, from, &Message::from);
  };
  EXPECT_EQ(message(by_neighbors[0], 0).packed_pieces, 0U);
  EXPECT_EQ(message(by_ranks[0], 0).packed_pieces, 2U);
  EXPECT_EQ(message(by_neighbors[1], 1).unpacked_pieces, 2U);
  EXPECT_EQ(message(by_neighbors[1], 1).unpacked_bytes, 16);
  EXPECT_EQ(message(by_ranks[1], 1).unpacked_pieces, 0U);
}

TEST(NeighborhoodSample, IsNearTheWholeScheduleWithSeveralRanksOnANode) {
  const auto neighborhood = box_on({4, 4, 8}, 3);
  const auto layout = Layout::with_ppn(128, 16);
  for (const bool is_same : {false, true})
    for (const Bytes bytes : {8, 400, 20000})
      for (const auto* strategy :
           {"cartesian,dims=4x4x8,stages=1x1x1", "cartesian,dims=4x4x8", "cartesian,dims=4x4x8,stages=1x1x2",
            "cartesian,dims=4x4x8,blocks=1x2x8,stages=2x2x2x1x1x1"}) {
        const auto whole = exact(strategy, neighborhood, bytes, is_same, layout, CostModel::burst).seconds;
        EXPECT_NEAR(sampled(strategy, neighborhood, bytes, is_same, layout, CostModel::burst).seconds, whole,
                    0.1 * whole)
            << strategy << " " << bytes;
      }
}

}  // namespace
}  // namespace commpass
