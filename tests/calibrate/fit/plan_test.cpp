#include "calibrate/fit/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace commpass {
namespace {

std::vector<Experiment> plan_of(const std::string& layout_text) {
  const auto layout = parse_layout(layout_text);
  const auto machine = machine_like(layout, "planned");
  return plan_calibration(layout.on(machine), machine);
}

/// By parameters, of those that the layout lacks ranks for.
std::map<std::string, std::string> needs_of(const std::string& layout_text) {
  std::map<std::string, std::string> needs;
  for (const auto& experiment : plan_of(layout_text))
    if (!experiment.needs.empty()) needs[experiment.parameters] = experiment.needs;
  return needs;
}

TEST(Plan, TwoRanksOfANodeIdentifyWhatTheyDoAlone) {
  const auto needs = needs_of("1x2");
  EXPECT_EQ(needs.at("levels.network.host"), "two nodes");
  EXPECT_EQ(needs.at("operations.skew_s"), "two nodes");
  EXPECT_EQ(needs.at("levels.node.host"), "two ranks of a node on different ones of the level socket");
  EXPECT_EQ(needs.at("levels.socket.host.aggregate_rate_bytes_per_s"), "two disjoint pairs of ranks");
  EXPECT_FALSE(needs.contains("levels.socket.host"));
  EXPECT_FALSE(needs.contains("local.copy_rate_bytes_per_s"));
}

TEST(Plan, ThreeFullNodesIdentifyAll) {
  EXPECT_TRUE(needs_of("3x2x4").empty());
  EXPECT_EQ(needs_of("2x2x4"),
            (std::map<std::string, std::string>{
                {"levels.node.down_rate_bytes_per_s", "three nodes, and two ranks on the one that receives"}}));
}

TEST(Plan, FitsTheBudgetAndTheRanksOfTheLayout) {
  for (const auto* const text : {"1x2", "2x1", "3x1", "2x2x2", "3x5", "2x3x2x4", "node=2,socket=2,numa=2,core=3"}) {
    const int ranks = parse_layout(text).ranks();
    double spent = 0;
    std::set<std::string> names;
    for (const auto& experiment : plan_of(text)) {
      EXPECT_TRUE(names.insert(experiment.parameters).second) << text << ": " << experiment.parameters << " twice";
      if (!experiment.needs.empty()) continue;
      spent += experiment.budget_part;
      EXPECT_GT(experiment.budget_part, 0) << text << ": " << experiment.parameters;
      EXPECT_LE(experiment.ranks, ranks) << text << ": " << experiment.parameters;
      EXPECT_GE(experiment.ranks, 2) << text << ": " << experiment.parameters;
    }
    EXPECT_LE(spent, held_out_share.end + 1e-9) << text;
    EXPECT_GT(spent, 0.7) << text;
  }
}

TEST(Plan, GroupsOfNodesReplaceTheCore) {
  const auto plan = plan_of("2x3x2x4");
  EXPECT_EQ(experiment_for("levels.group.up_rate_bytes_per_s", plan).ranks, 48);
  EXPECT_THROW(experiment_for("levels.network.node_share_bytes_per_s", plan), std::out_of_range);
}

}  // namespace
}  // namespace commpass
