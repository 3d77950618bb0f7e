// Which exchanges are late because messages were lost.
#include "model/machine/late_messages.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

/// @param usual_s  of all of them
/// @param timer_s  by which the late ones take longer
CrowdedExchanges exchanges(int messages, std::size_t all, std::size_t late, Seconds usual_s, Seconds timer_s) {
  CrowdedExchanges result{messages, std::vector<Seconds>(all, usual_s)};
  for (std::size_t i = 0; i < late; ++i) result.seconds[i] += timer_s;
  return result;
}

TEST(LateMessages, AreThoseThatATimerMakesLate) {
  const std::vector all{exchanges(16, 20, 0, 2e-5, 0), exchanges(32, 20, 0, 3e-5, 0), exchanges(64, 20, 7, 5e-5, 0.16),
                        exchanges(128, 20, 18, 9e-5, 0.16)};
  const auto late = find_late_messages(all);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->messages, 64);
  EXPECT_EQ(late->late, 7);
  EXPECT_EQ(late->of, 20);
  EXPECT_NEAR(late->late_s, 0.16, 1e-9);
  EXPECT_EQ(late->most_in_time, 32);
}

TEST(LateMessages, AreSeenWhereMostExchangesAreLate) {
  const auto late = find_late_messages(std::vector{exchanges(16, 20, 0, 2e-5, 0), exchanges(32, 20, 18, 3e-5, 0.2)});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->late, 18);
  EXPECT_EQ(late->most_in_time, 16);
}

TEST(LateMessages, AreSeenWhereAllExchangesAreLate) {
  const auto late = find_late_messages(std::vector{exchanges(16, 20, 0, 2e-5, 0), exchanges(32, 20, 20, 3e-5, 0.16)});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->late, 20);
  EXPECT_NEAR(late->late_s, 0.16, 1e-4);
  EXPECT_EQ(late->most_in_time, 16);
}

TEST(LateMessages, AreNoneWhereOneIsAnAccidentOrTimesGrow) {
  EXPECT_FALSE(find_late_messages({}));
  EXPECT_FALSE(find_late_messages(std::vector{exchanges(16, 20, 0, 2e-5, 0), exchanges(32, 20, 1, 3e-5, 0.16)}));
  // Slow networks take long, all exchanges alike.
  EXPECT_FALSE(find_late_messages(std::vector{exchanges(16, 20, 0, 1e-3, 0), exchanges(256, 20, 0, 0.5, 0)}));
  // Less than a timer: a scheduler.
  EXPECT_FALSE(find_late_messages(std::vector{exchanges(16, 20, 0, 2e-5, 0), exchanges(32, 20, 9, 3e-5, 0.004)}));
}

// With the fewest messages exchanges are late, too: then others interrupt them.
TEST(LateMessages, AreNotBlamedOnTheNetworkWhereTheMachineInterrupts) {
  EXPECT_FALSE(find_late_messages(std::vector{exchanges(16, 20, 3, 2e-5, 0.05), exchanges(32, 20, 4, 3e-5, 0.05)}));
  EXPECT_TRUE(find_late_messages(std::vector{exchanges(16, 20, 1, 2e-5, 0.05), exchanges(32, 20, 12, 3e-5, 0.16)}));
}

}  // namespace
}  // namespace commpass
