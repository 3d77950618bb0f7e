// Levels that a profile or a layout does not have change no price, whatever is priced.
#include <gtest/gtest.h>

#include <map>

#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/halo_choice.hpp"
#include "selector/choose/neighborhood_choice.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {
namespace {

/// Standard levels, each of which shares a rate.
Machine machine_of_standard_levels() {
  auto machine = test::small_cluster();
  machine.levels[standard_level::socket].inside_rate_bytes_per_s = 1.5e10;
  machine.levels[standard_level::node].inside_rate_bytes_per_s = 2e10;
  machine.levels[standard_level::node].down_rate_bytes_per_s = 9e9;
  machine.levels[standard_level::group].up_rate_bytes_per_s = 1.2e10;
  machine.levels[standard_level::network].node_share_bytes_per_s = 5e9;
  test::set_channel(machine, standard_level::node, {{Protocol{"eager", test::no_limit, 8e-7, 2e-10, 3e-7}}, 1e-9});
  return machine;
}

/// The same with levels of which it says nothing.
Machine machine_of_more_levels() {
  const auto standard = machine_of_standard_levels();
  auto machine = standard;
  machine.levels = {{.name = "cache"}, {.name = "numa"}};
  for (const auto& level : standard.levels) machine.levels.push_back(level);
  machine.levels.insert(machine.levels.end() - 1, {.name = "island"});
  machine.host = {};
  for (Level level = 0; level <= standard.outermost(); ++level)
    machine.host.by_level[machine.level(standard.name_of(level))] = standard.host.by_level[level];
  return machine;
}

std::map<std::string, double> prices_of(const Machine& machine, const Layout& layout) {
  std::map<std::string, double> prices;
  const auto pattern = generate_pattern("random:ranks=32,bytes=3000,degree=9");
  for (const auto model : {CostModel::burst, CostModel::max_rate, CostModel::postal})
    for (const auto& candidate : rank_strategies(pattern, layout, machine, model, {}, 3))
      prices[std::string(name_of(model)) + " " + to_string(candidate.strategy)] = ranked_seconds(candidate, 3);
  for (const auto& candidate : rank_one_shot({0.5, 0.5, 700}, layout, machine))
    prices["one-shot " + to_string(candidate.strategy)] = candidate.cost.seconds;
  for (const auto& candidate : SparseChoice(layout, machine, true).rank(expected_traffic(5, 600, layout)))
    prices["sparse " + to_string(candidate.strategy)] = candidate.seconds;
  const Grid grid{{4, 2, 4}, {true, true, true}};
  const Neighborhood neighborhood{grid, box_offsets(grid.dimensions(), 1), {}};
  const NeighborhoodPricer pricer(neighborhood, NeighborBytes::equal(neighborhood, 500, false), layout, machine,
                                  CostModel::burst);
  for (const auto& candidate : pricer.rank({}, 1))
    prices["grid " + to_string(candidate.strategy)] = candidate.cost.seconds;
  for (const auto& candidate : rank_halos(grid, {{20, 20, 20}, {1, 1, 1}, 8}, layout, machine, CostModel::burst))
    prices["halo " + std::to_string(candidate.messages)] = candidate.predicted_s;
  Rank rank = 0;
  for (const auto seconds : busy_seconds(pattern, layout, machine)) prices["busy " + std::to_string(rank++)] = seconds;
  return prices;
}

TEST(LevelPrices, AreThoseOfTheLevelsThatProfileAndLayoutHave) {
  const auto few = machine_of_standard_levels(), more = machine_of_more_levels();
  for (const auto& [plain, fine] :
       {std::pair("4x2x4", "node=4,socket=2,numa=2,cache=2,core=1"),
        std::pair("2x2x2x4", "island=1,group=2,rack=2,node=1,socket=2,numa=2,cache=1,core=2"),
        std::pair(
            "0.0,0.1,0.1,1.0,1.0,1.0,1.1,2.0,2.0,2.1,2.1,3.0,3.0,3.0,3.0,3.1,4.0,4.1,4.1,4.1,5.0,5.0,5.1,5.1,6.0,"
            "6.0,6.0,6.1,7.0,7.1,7.1,7.1",
            "node.socket.numa:0.0.0,0.1.0,0.1.1,1.0.0,1.0.0,1.0.0,1.1.0,2.0.0,2.0.1,2.1.0,2.1.0,3.0.0,3.0.0,3.0.1,"
            "3.0.1,3.1.0,4.0.0,4.1.0,4.1.0,4.1.0,5.0.0,5.0.1,5.1.0,5.1.0,6.0.0,6.0.0,6.0.1,6.1.0,7.0.0,7.1.0,"
            "7.1.0,7.1.0")}) {
    SCOPED_TRACE(fine);
    const auto expected = prices_of(few, parse_layout(plain));
    EXPECT_GT(expected.size(), 100U);
    EXPECT_EQ(prices_of(few, parse_layout(fine)), expected);
    EXPECT_EQ(prices_of(more, parse_layout(plain)), expected);
    // Closed forms fold messages by level, also where one level stands in for two.
    constexpr double folding = 0.1;
    const auto both = prices_of(more, parse_layout(fine));
    EXPECT_EQ(both.size(), expected.size());
    for (const auto& [name, seconds] : expected) EXPECT_NEAR(both.at(name), seconds, folding * seconds) << name;
  }
}

}  // namespace
}  // namespace commpass
