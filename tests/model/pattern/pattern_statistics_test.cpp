#include "model/pattern/pattern_statistics.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "model/support.hpp"

namespace commpass {
namespace {

TEST(Statistics, LeaveOutEdgesToOneselfAndEmptyOnes) {
  const auto s = statistics({5, {{0, 1, 10}, {0, 2, 30}, {1, 2, 20}, {2, 2, 1000}, {3, 0, 0}}});
  EXPECT_EQ(s.ranks, 5);
  EXPECT_EQ(s.total, (Traffic{3, 60}));
  EXPECT_EQ(s.self_bytes, 1000);
  EXPECT_EQ(s.empty_edges, 1);
  EXPECT_EQ(s.idle_ranks, 2) << "ranks 3 and 4";
  EXPECT_EQ(s.message_bytes_min, 10);
  EXPECT_EQ(s.message_bytes_median, 20);
  EXPECT_EQ(s.message_bytes_max, 30);
  EXPECT_TRUE(s.by_level.empty());
}

TEST(Statistics, SpreadOverAllRanks) {
  const auto s = statistics({4, {{0, 1, 10}, {0, 2, 30}, {1, 2, 20}}});
  EXPECT_EQ(s.sends.min, 0);
  EXPECT_EQ(s.sends.max, 2);
  EXPECT_DOUBLE_EQ(s.sends.mean, 0.75);
  EXPECT_DOUBLE_EQ(s.sends.imbalance(), 2 / 0.75);
  EXPECT_EQ(s.receives.max, 2);
  EXPECT_EQ(s.send_bytes.max, 40);
  EXPECT_DOUBLE_EQ(s.send_bytes.mean, 15);
  EXPECT_EQ(s.receive_bytes.max, 50);
  EXPECT_EQ(statistics({3, {}}).sends.imbalance(), 1) << "no rank sends more than others";
}

TEST(Statistics, ClassSizesByPowersOfTwo) {
  constexpr auto largest = std::numeric_limits<Bytes>::max();
  const auto s = statistics({2, {{0, 1, 1}, {0, 1, 7}, {1, 0, 4}, {1, 0, 8}}});
  ASSERT_EQ(s.sizes.size(), 3U) << "no class of 2 and 3 bytes";
  EXPECT_EQ(s.sizes[0].least, 1);
  EXPECT_EQ(s.sizes[0].most, 1);
  EXPECT_EQ(s.sizes[1].least, 4);
  EXPECT_EQ(s.sizes[1].most, 7);
  EXPECT_EQ(s.sizes[1].traffic, (Traffic{2, 11}));
  EXPECT_EQ(s.sizes[2].traffic, (Traffic{1, 8}));
  EXPECT_EQ(statistics({2, {{0, 1, largest}}}).sizes[0].most, largest);
}

TEST(Statistics, TellWhetherAsMuchComesBack) {
  EXPECT_EQ(statistics({3, {{0, 1, 5}, {1, 0, 5}, {2, 2, 9}}}).symmetry, Symmetry::sizes);
  EXPECT_EQ(statistics({3, {{0, 1, 2}, {1, 0, 5}, {0, 1, 3}}}).symmetry, Symmetry::sizes)
      << "several edges of a pair count as one";
  EXPECT_EQ(statistics({3, {{0, 1, 5}, {1, 0, 6}}}).symmetry, Symmetry::pairs);
  EXPECT_EQ(statistics({3, {{0, 1, 5}, {1, 0, 0}}}).symmetry, Symmetry::none) << "nothing comes back";
  EXPECT_EQ(statistics({3, {{0, 1, 5}, {1, 2, 5}, {2, 0, 5}}}).symmetry, Symmetry::none);
}

TEST(Statistics, WithALayoutTellTheBytesWithinANode) {
  const auto layout = Layout::regular(2, 2, 1);
  const auto s = statistics({4, {{0, 1, 5}, {1, 0, 6}, {0, 2, 100}, {3, 3, 7}}}, &layout);
  EXPECT_EQ(s.by_level, (std::vector<LevelTraffic>{{"socket", {0, 0}}, {"node", {2, 11}}, {"network", {1, 100}}}));
}

TEST(Statistics, TellHowManyBytesARankSendsAgain) {
  EXPECT_EQ(
      statistics(
          {4, {{0, 1, 10, 0}, {0, 2, 10, 0}, {0, 3, 10, 0}, {1, 2, 10, 0}, {1, 3, 10}, {2, 2, 9, 1}, {2, 3, 9, 1}}})
          .repeated_bytes,
      20)
      << "a copy to itself does not count";
}

}  // namespace
}  // namespace commpass
