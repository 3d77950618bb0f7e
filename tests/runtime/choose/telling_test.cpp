#include "runtime/choose/telling.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

TEST(Telling, TakesAtMostTwoPercentOfTheExchangesButIsNotGivenUp) {
  EXPECT_EQ(exchanges_a_telling(1e-3, 1e-5), 1);
  EXPECT_EQ(exchanges_a_telling(1e-3, 1.9e-5), 1);
  EXPECT_EQ(exchanges_a_telling(1e-3, 3e-5), 2);
  EXPECT_EQ(exchanges_a_telling(1e-4, 0.9e-5), 5);
  EXPECT_EQ(exchanges_a_telling(1e-6, 1e-5), most_exchanges_a_telling);
  EXPECT_EQ(exchanges_a_telling(0, 1e-5), most_exchanges_a_telling);
  EXPECT_EQ(exchanges_a_telling(0, 0), 1);
}

TEST(Telling, IsMoreFrequentAtFirst) {
  const auto count = [](int one_in) {
    int told = 0;
    for (int exchange = 1; exchange <= 64; ++exchange) told += tells_after(exchange, one_in);
    return told;
  };
  EXPECT_EQ(count(1), 64);
  EXPECT_EQ(count(5), 7 + 12);
  EXPECT_EQ(count(16), 7 + 1);  // the 48th
  EXPECT_TRUE(tells_after(2) && tells_after(8) && tells_after(48));
  EXPECT_FALSE(tells_after(3) || tells_after(24));
}

}  // namespace
}  // namespace commpass
