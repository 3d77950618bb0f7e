// Measured algorithms that stand for strategies.
#include "bench/nearest_measured.hpp"

#include <gtest/gtest.h>

namespace commpass::bench {
namespace {

const MeasuredCase dane{"dane", "mvapich2", 8, 100, "alltoall", 64};

const std::vector<MeasuredAlgorithm> measured{{"pmpi", ""},
                                              {"direct-pairwise", ""},
                                              {"direct-nonblocking", ""},
                                              {"node-aware-pairwise", "groups=1"},
                                              {"node-aware-nonblocking", "groups=1"},
                                              {"multileader-node-aware-nonblocking", "leaders=4"},
                                              {"multileader-pairwise", "leaders=4"},
                                              {"multileader-nonblocking", "leaders=4"},
                                              {"multileader-nonblocking", "leaders=20"},
                                              {"locality-aware-pairwise", "groups=10"},
                                              {"locality-aware-nonblocking", "groups=10"}};

std::string nearest(const std::string& strategy) {
  const auto found = nearest_measured(strategy, dane, measured);
  return found.algorithm ? found.algorithm->text() + (found.is_same ? " (same)" : "") : found.why_none;
}

TEST(MeasuredAlgorithms, HaveMessagesToOtherNodesInFlight) {
  EXPECT_EQ(messages_in_flight({"direct-pairwise", ""}, dane), 1);
  EXPECT_EQ(messages_in_flight({"direct-nonblocking", ""}, dane), 700);
  EXPECT_EQ(messages_in_flight({"locality-aware-nonblocking", "groups=10"}, dane), 70);
  EXPECT_EQ(messages_in_flight({"node-aware-nonblocking", "groups=1"}, dane), 7);
}

TEST(NearestMeasured, IsTheSameStrategyOrOneOfItsFamily) {
  EXPECT_EQ(nearest("standard"), "direct-nonblocking (same)");
  EXPECT_EQ(nearest("standard,window=2"), "direct-pairwise");
  EXPECT_EQ(nearest("standard,window=64"), "direct-nonblocking");
  EXPECT_EQ(nearest("multi-leader,leaders=4"), "multileader-nonblocking leaders=4 (same)");
  EXPECT_EQ(nearest("multi-leader,leaders=25"), "multileader-nonblocking leaders=20");
  EXPECT_EQ(nearest("stfw,dims=8x100"), "locality-aware-nonblocking groups=10");
  EXPECT_EQ(nearest("three-step"), "node-aware-nonblocking groups=1");
  EXPECT_EQ(nearest("mpi"), "pmpi");
}

TEST(NearestMeasured, IsNoneWhereNothingLikeItWasMeasured) {
  EXPECT_EQ(nearest("stfw,dims=10x8x10"), "stfw of 3 dimensions");
  EXPECT_EQ(nearest("stfw,dims=2x400"), "stfw with groups of other sizes");
  EXPECT_EQ(nearest("stfw,dims=200x4"), "stfw across nodes at once");
  EXPECT_EQ(nearest("tuna,radix=2"), "tuna");
}

}  // namespace
}  // namespace commpass::bench
