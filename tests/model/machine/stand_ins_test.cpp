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
  machine.host.by_level[0] = Channel{.protocols = {{.name = "eager", .alpha_s = 1e-6, .beta_s_per_byte = 1e-10}}};
  machine.host.by_level[1] = Channel{.protocols = {{.name = "eager", .alpha_s = 2e-6, .beta_s_per_byte = 4e-10}}};
  return machine;
}

TEST(StandIns, TakeCopiesToBeNoSlowerThanMessagesOfTheNearestRanks) {
  const auto machine = with_stand_ins(small_machine());
  EXPECT_NEAR(machine.copy_rate_bytes_per_s, 65536 / (1e-6 + 65536e-10), 1);
  EXPECT_EQ(machine.copy_block_s, typical_copy_block_s);
  ASSERT_EQ(machine.stand_ins.size(), 3U);
  EXPECT_EQ(machine.stand_ins[0], "local copies, taken for 8.68 GB/s and 20 ns a piece");
  EXPECT_EQ(machine.stand_ins[1], "what a node injects, taken for 5 GB/s");
  EXPECT_EQ(machine.stand_ins[2], "waits between rounds, taken for 120 ns times √ranks");
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
  std::vector<double> rates, messages;
  for (const auto* name : {"dane", "delta", "deltaai", "lassen", "lassen-mvapich", "summit", "tioga", "tuolumne"}) {
    const auto machine = read_profile(std::string(COMMPASS_TEST_PROFILES "/") + name + ".json").machine;
    if (const auto rate = near_rate_bytes_per_s(machine)) rates.push_back(*rate);
    const double up = machine.levels[machine.node_level()].up_rate_bytes_per_s;
    if (std::isfinite(up)) messages.push_back(up * host_channel(machine, machine.outermost()).least_beta());
  }
  EXPECT_NEAR(typical_near_rate_bytes_per_s / geometric_median(rates), 1, 0.05) << geometric_median(rates);
  EXPECT_NEAR(typical_injecting_messages / geometric_median(messages), 1, 0.05) << geometric_median(messages);
}

}  // namespace
}  // namespace commpass
