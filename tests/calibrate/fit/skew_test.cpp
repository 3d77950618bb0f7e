#include "calibrate/fit/skew.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "selector/choose/select.hpp"

namespace commpass {
namespace {

Machine machine_with(Seconds skew_s) {
  Machine machine;
  machine.levels = {{.name = "node"}, {.name = "network"}};
  machine.host.by_level[0] = Channel{.protocols = {{.name = "eager", .alpha_s = 1e-6, .beta_s_per_byte = 1e-10}}};
  machine.host.by_level[1] = Channel{.protocols = {{.name = "eager", .alpha_s = 2e-6, .beta_s_per_byte = 4e-10}}};
  machine.operations.skew_s = skew_s;
  return machine;
}

/// Exchanges of a machine that takes what the model says, with this skew.
std::vector<HeldOut> exchanges_of(const Layout& layout, Seconds skew_s) {
  std::vector<HeldOut> all;
  for (const Bytes bytes : {8, 64, 256}) {
    const auto pattern = make_rounds(layout, bytes);
    const auto seconds = [&](Seconds own) {
      return price(parse_strategy(skew_strategy), pattern, layout, machine_with(own)).cost.seconds;
    };
    const auto measured_s = seconds(skew_s);
    all.push_back({"rounds", skew_strategy, seconds(0), measured_s, {measured_s, measured_s}});
  }
  return all;
}

TEST(Skew, IsFoundInTimesOfRounds) {
  for (const auto& layout : {Layout::with_ppn(4, 2), Layout::with_ppn(3, 1), Layout::with_ppn(7, 3),
                             Layout::with_ppn(64, 4), Layout::with_ppn(300, 100)}) {
    const Seconds skew_s = 5e-7;
    EXPECT_NEAR(fit_skew(exchanges_of(layout, skew_s), layout, machine_with(0)), skew_s, 1e-3 * skew_s)
        << layout.nodes() << " nodes, " << layout.ranks() << " ranks";
  }
}

TEST(Skew, IsNothingWhereTimesAreThePrices) {
  const auto layout = Layout::with_ppn(16, 4);
  EXPECT_EQ(fit_skew(exchanges_of(layout, 0), layout, machine_with(0)), 0);
}

TEST(Skew, NeedsTwoRounds) { EXPECT_EQ(skew_rounds(Layout::with_ppn(2, 1)), 1); }

TEST(Skew, RoundsLeaveNodesAndAreAtMost64) {
  const auto layout = Layout::with_ppn(300, 100);
  const auto pattern = make_rounds(layout, 8);
  EXPECT_EQ(std::ssize(pattern.edges), 300 * 64);
  for (const auto& edge : pattern.edges) EXPECT_NE(layout.node(edge.source), layout.node(edge.destination));
}

}  // namespace
}  // namespace commpass
