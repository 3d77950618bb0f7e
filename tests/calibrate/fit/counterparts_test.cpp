// Strategies that stand for measured algorithms.
#include "calibrate/fit/counterparts.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

const MeasuredCase dane{"dane", "mvapich2", 8, 100, "alltoall", 64};

TEST(Counterparts, SendTheSameMessages) {
  EXPECT_EQ(counterpart({"direct-pairwise", ""}, dane), "standard,window=1");
  EXPECT_EQ(counterpart({"locality-aware-nonblocking", "groups=4"}, dane), "stfw,dims=25x32");
  EXPECT_EQ(counterpart({"locality-aware-pairwise", "groups=3"}, dane), "") << "100 ranks are no three groups";
  EXPECT_EQ(counterpart({"multileader-node-aware-pairwise", "leaders=4"}, dane), "");
}

TEST(Counterparts, AreOfSparseExchangesWhereThePatternIsOne) {
  const MeasuredCase sparse{"quartz", "mvapich2", 2, 32, "sdde-constant:max_messages=3,max_nodes=2", 4};
  EXPECT_EQ(counterpart({"two-step-nbx", ""}, sparse), "two-step+nbx");
  EXPECT_EQ(counterpart({"direct-pairwise", ""}, sparse), "");
  EXPECT_EQ(counterpart({"two-step-nbx", ""}, dane), "");
}

}  // namespace
}  // namespace commpass
