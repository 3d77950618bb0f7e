// The median.
#include "model/median.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 6}), 5.5);
  EXPECT_EQ(median({1, 1, 1, 100}), 1);
}

TEST(LowerMedian, IsTheLowerOfTwoCentralValues) {
  EXPECT_EQ(lower_median({3, 1, 2}), 2);
  EXPECT_EQ(lower_median({4, 1, 3, 2}), 2);
  EXPECT_EQ(lower_median({1e-9, 0}), 0);
}

}  // namespace
}  // namespace commpass
