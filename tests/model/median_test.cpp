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

}  // namespace
}  // namespace commpass
