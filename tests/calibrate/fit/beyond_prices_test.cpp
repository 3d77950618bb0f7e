// What calls take besides their messages.
#include <gtest/gtest.h>

#include <vector>

#include "calibrate/calls.hpp"

namespace commpass {
namespace {

HeldOut exchange(Seconds predicted_s, Seconds measured_s, Seconds noise_s) {
  return {"one message", "standard", predicted_s, measured_s, {measured_s - noise_s, measured_s + noise_s}, {}};
}

TEST(BeyondPrices, IsTheMiddleOfTheDifferences) {
  const std::vector all{exchange(3e-7, 5e-7, 1e-8), exchange(4e-7, 7e-7, 1e-8), exchange(5e-7, 2e-6, 1e-8)};
  EXPECT_NEAR(beyond_prices(all), 3e-7, 1e-15);
}

TEST(BeyondPrices, IsNothingWhereItIsLittle) {
  EXPECT_EQ(beyond_prices(std::vector{exchange(1e-6, 1.04e-6, 1e-9)}), 0);
  EXPECT_GT(beyond_prices(std::vector{exchange(1e-6, 1.06e-6, 1e-9)}), 0);
}

TEST(BeyondPrices, IsNothingWhereItMayBeNoise) {
  EXPECT_EQ(beyond_prices(std::vector{exchange(1e-6, 1.3e-6, 4e-7), exchange(1e-6, 1.2e-6, 4e-7)}), 0);
}

TEST(BeyondPrices, IsNeverNegative) { EXPECT_EQ(beyond_prices(std::vector{exchange(1e-6, 5e-7, 1e-9)}), 0); }

}  // namespace
}  // namespace commpass
