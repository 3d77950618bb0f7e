// Stand-ins for parameters that would be free, and the sources of their numbers.
#include "model/machine/stand_ins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/machine/profile.hpp"
#include "model/median.hpp"

namespace commpass {
namespace {

Machine small_machine() {
  Machine machine;
  machine.levels = {{.name = "node"}, {.name = "network"}};
  machine.host.by_level[0] =
      Channel{.protocols = {{.name = "eager", .alpha_s = 1e-6, .beta_s_per_byte = 1e-10, .alpha_next_s = 1e-6}}};
  machine.host.by_level[1] =
      Channel{.protocols = {{.name = "eager", .alpha_s = 2e-6, .beta_s_per_byte = 4e-10, .alpha_next_s = 2e-6}}};
  return machine;
}

TEST(StandIns, TakeCopiesToBeNoSlowerThanMessagesOfTheNearestRanks) {
  const auto machine = with_stand_ins(small_machine());
  EXPECT_NEAR(machine.copy_rate_bytes_per_s, 65536 / (1e-6 + 65536e-10), 1);
  EXPECT_EQ(machine.copy_block_s, typical_copy_block_s);
  ASSERT_EQ(machine.stand_ins.size(), 4U);
  EXPECT_EQ(machine.stand_ins[0], "local copies, taken for 8.68 GB/s and 20 ns a piece");
  EXPECT_EQ(machine.stand_ins[1], "what a node injects, taken for 5 GB/s");
  EXPECT_EQ(machine.stand_ins[2], "further messages of bursts between nodes, taken for 0.4·α");
  EXPECT_EQ(machine.stand_ins[3], "waits between rounds, taken for 120 ns times √ranks");
}

TEST(StandIns, LetFurtherMessagesBetweenNodesTakeTheTypicalPartOfALoneOne) {
  auto given = small_machine();
  given.device.by_level[1] = given.host.by_level[1];
  auto& protocols = given.host.by_level[1]->protocols;
  protocols.front().max_bytes = 512;
  protocols.push_back({.name = "rendezvous", .alpha_s = 5e-6, .alpha_next_s = 5e-6});
  const auto machine = with_stand_ins(given);
  EXPECT_EQ(machine.host.by_level[0], given.host.by_level[0]) << "within a node";
  EXPECT_DOUBLE_EQ(machine.host.by_level[1]->protocols[1].alpha_next_s, typical_next_alpha_ratio * 5e-6);
  EXPECT_DOUBLE_EQ(machine.device.by_level[1]->protocols[0].alpha_next_s, typical_next_alpha_ratio * 2e-6);
  protocols.front().alpha_next_s = 1e-6;  // measured, so the other one is equal to α
  EXPECT_EQ(with_stand_ins(given).host, given.host);
  protocols.front().alpha_next_s = 2e-6;
  given.verdict = Verdict{};
  EXPECT_EQ(with_stand_ins(given).host, given.host) << "a calibration measured bursts";
}

TEST(StandIns, LetRanksWaitForAPartOfALoneMessageBetweenNodes) {
  EXPECT_DOUBLE_EQ(with_stand_ins(small_machine()).operations.skew_s.value(), typical_skew_alpha_ratio * 2e-6);
  auto calibrated = small_machine();
  calibrated.verdict = Verdict{};
  EXPECT_FALSE(with_stand_ins(calibrated).operations.skew_s) << "a calibration measured exchanges";
}

TEST(StandIns, AreTypicalWhereNoMessageWithinANodeIsKnown) {
  auto machine = small_machine();
  machine.host.by_level[0].reset();
  EXPECT_EQ(with_stand_ins(machine).copy_rate_bytes_per_s, typical_near_rate_bytes_per_s);
}

TEST(StandIns, LeaveKnownParametersAsTheyAre) {
  auto machine = small_machine();
  machine.copy_block_s = 0;  // measured: copies take no time
  machine.levels[0].up_rate_bytes_per_s = 1e10;
  machine.operations.skew_s = 0;
  machine.host.by_level[1]->protocols.front().alpha_next_s = 1e-6;
  EXPECT_EQ(with_stand_ins(machine), machine);
}

TEST(StandIns, DoNotLimitANodeWhoseLimitACalibrationDidNotReach) {
  auto machine = small_machine();
  machine.verdict = Verdict{};
  EXPECT_TRUE(std::isinf(with_stand_ins(machine).levels[0].up_rate_bytes_per_s));
}

double geometric_median(std::vector<double> values) {
  for (auto& value : values) value = std::log(value);
  return std::exp(median(std::move(values)));
}

TEST(StandIns, AreTheMedianOfTheMachinesThatComeWithCommpass) {
  std::vector<double> rates, messages, parts;
  for (const auto* name :
       {"dane", "delta", "deltaai", "lassen", "lassen-mvapich", "marenostrum5", "summit", "tioga", "tuolumne"}) {
    const auto machine = read_profile(std::string(COMMPASS_TEST_PROFILES "/") + name + ".json").machine;
    if (const auto rate = near_rate_bytes_per_s(machine)) rates.push_back(*rate);
    const double up = machine.levels[machine.node_level()].up_rate_bytes_per_s;
    for (const auto& protocol : host_channel(machine, machine.outermost()).protocols)
      if (protocol.alpha_next_s < protocol.alpha_s) parts.push_back(protocol.alpha_next_s / protocol.alpha_s);
    if (std::isfinite(up)) messages.push_back(up * host_channel(machine, machine.outermost()).least_beta());
  }
  EXPECT_NEAR(typical_near_rate_bytes_per_s / geometric_median(rates), 1, 0.05) << geometric_median(rates);
  EXPECT_NEAR(typical_injecting_messages / geometric_median(messages), 1, 0.05) << geometric_median(messages);
  EXPECT_NEAR(typical_next_alpha_ratio / geometric_median(parts), 1, 0.1) << geometric_median(parts);
}

}  // namespace
}  // namespace commpass
