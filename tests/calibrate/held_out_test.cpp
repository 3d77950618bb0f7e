// Exchanges that no fit has seen, on real ranks, and repeated measurements where they are far off.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>

#include "calibrate/calibration.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::size_of;

/// A machine of which all is known, and where each further message of a burst costs a second.
Machine absurd_machine() {
  auto machine = generic_profile().machine;
  for (auto& channel : machine.host.by_level)
    if (channel)
      for (auto& protocol : channel->protocols) protocol.alpha_next_s = 1;
  return machine;
}

/// A calibration that has come to its end but for the check.
class HeldOutExchanges : public testing::Test {
 protected:
  Calibration calibration(Seconds budget_s) {
    options_.budget_s = budget_s;
    Calibration result(MPI_COMM_WORLD, layout_, options_);
    result.machine = absurd_machine();
    return result;
  }

  const Layout layout_ = Layout::with_ppn(size_of(), size_of());
  CalibrationOptions options_;
};

TEST_F(HeldOutExchanges, AreOfAllKindsAndHaveTimes) {
  auto short_of_time = calibration(1e-6);
  check_held_out(short_of_time);
  const auto& all = short_of_time.provenance.held_out;
  for (const char* name : {"few large", "many small", "all-to-all called once", "sparse"})
    EXPECT_NE(std::ranges::find(all, name, &HeldOut::exchange), all.end()) << name;
  for (const auto& each : all) {
    EXPECT_TRUE(each.predicted_s > 0 && std::isfinite(each.predicted_s)) << each.exchange;
    EXPECT_TRUE(each.measured_s > 0 && std::isfinite(each.measured_s)) << each.exchange;
    EXPECT_LE(each.measured_interval_s.low, each.measured_s);
    EXPECT_GE(each.measured_interval_s.high, each.measured_s);
  }
  EXPECT_EQ(short_of_time.provenance.measured_again, "") << "nothing is left of the budget";
  EXPECT_EQ(short_of_time.machine, absurd_machine());
}

TEST_F(HeldOutExchanges, ThatAreFarOffAreMeasuredAgainWhereTheErrorIs) {
  constexpr Seconds enough_s = 12;
  auto patient = calibration(enough_s);
  check_held_out(patient);
  const auto& what = patient.provenance.measured_again;
  // Three rounds are run whatever they take; where others use the cores, they take all there is.
  if (what.empty() && patient.sampler.has_spent(1)) GTEST_SKIP() << "the machine is too busy to measure again";
  EXPECT_TRUE(what.starts_with("further messages of levels.socket.host, since")) << what;
  EXPECT_TRUE(what.ends_with("which were taken")) << what;
  const auto& shortest = patient.machine.host.find(standard_level::socket)->protocols.front();
  const auto noisy = patient.host_key(standard_level::socket, shortest.name) + ": alpha_next_s";
  if (std::ranges::any_of(patient.provenance.not_measured, [&](const auto& told) { return told.starts_with(noisy); }))
    GTEST_SKIP() << "the machine is too busy to tell what a further message takes";
  EXPECT_LT(shortest.alpha_next_s, 0.1);
  const auto& all = patient.provenance.held_out;
  const auto many = std::ranges::find(all, "many small", &HeldOut::exchange);
  ASSERT_NE(many, all.end());
  EXPECT_LT(many->predicted_s, 1) << "priced by the new measurement";
}

}  // namespace
}  // namespace commpass
