// What other libraries send in indexed exchanges, calculated by hand.
#include "bench/value_needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace commpass::bench {
namespace {

/// Nodes {0, 1} and {2, 3}. Ranks own four values each; 2 and 3 need two and three of rank 1, of which one is the same.
ValueNeeds two_readers() { return {{0, 4, 8, 12, 16}, {{}, {}, {5, 4}, {4, 6, 7}}}; }
const auto layout = Layout::regular(2, 1, 2);

/// Without the order of messages in a stage.
PeerSchedule sorted(PeerSchedule schedule) {
  std::ranges::sort(schedule, {}, [](const PeerMessage& m) { return std::tuple(m.stage, m.from, m.to, m.packed); });
  return schedule;
}

TEST(PackedLoop, CopiesRunsOfValuesAtBothEnds) {
  // 5 and 4 are two runs, 4 and 6, 7 are two. Both arrive in the order of ghost values.
  EXPECT_EQ(sorted(packed_loop(two_readers(), layout)), (PeerSchedule{{0, 1, 2, 16, 2, 1}, {0, 1, 3, 24, 2, 1}}));
}

TEST(PackedLocalityAware, IsTheExchangeBetweenTheLoopsOfItsCaller) {
  // Rank 0 speaks for its node, rank 2 for the other.
  EXPECT_EQ(sorted(packed_locality_aware(two_readers(), layout)), (PeerSchedule{{0, 1, 0, 40, 2, 0},
                                                                                {0, 1, 1, 40, 4, 0},
                                                                                {1, 0, 2, 40, 2, 0},
                                                                                {2, 2, 2, 16, 0, 1},
                                                                                {2, 2, 3, 24, 0, 0},
                                                                                {2, 3, 3, 24, 0, 1}}));
}

TEST(LocalityAwareOnce, LetsAValueOfSeveralReadersCrossOnce) {
  // 5, 4, 6 and 7 go to the speaker and cross: 5, 4 and 6, 7 are three runs. Rank 3 gets 4 and 6, 7, which lie together
  // where they land; rank 2 copies its own.
  EXPECT_EQ(sorted(locality_aware_once(two_readers(), layout)), (PeerSchedule{{0, 1, 0, 32, 3, 0},
                                                                              {0, 1, 1, 40, 4, 0},
                                                                              {1, 0, 2, 32, 0, 0},
                                                                              {2, 2, 2, 16, 0, 1},
                                                                              {2, 2, 2, 16, 1, 0},
                                                                              {2, 2, 3, 24, 1, 0},
                                                                              {2, 3, 3, 24, 0, 1}}));
}

TEST(ValueNeeds, OfAMatrixAreTheColumnsOfOthersThatItsRowsTouch) {
  CoordinateMatrix matrix;
  matrix.rows = matrix.columns = 5;  // ranks own rows 0, 1 and 2, 3, 4
  matrix.row = {0, 0, 1, 4, 2};
  matrix.column = {3, 2, 3, 4, 0};
  const auto needs = needs_of_matrix(matrix, 2);
  EXPECT_EQ(needs.begin, (std::vector<std::int64_t>{0, 2, 5}));
  EXPECT_EQ(needs.needed, (std::vector<std::vector<std::int64_t>>{{2, 3}, {0}}));
  matrix.symmetry = CoordinateMatrix::Symmetry::symmetric;
  EXPECT_EQ(needs_of_matrix(matrix, 2).needed, (std::vector<std::vector<std::int64_t>>{{2, 3}, {0, 1}}));
}

TEST(ValueNeeds, AreReadAsTheyAreWritten) {
  for (const auto& needs : {two_readers(), random_needs(7, 3, 5), popular_needs(9, 20), random_needs(1, 3, 5)}) {
    const auto read = parse_needs(to_text(needs));
    EXPECT_EQ(read.begin, needs.begin);
    EXPECT_EQ(read.needed, needs.needed);
  }
}

}  // namespace
}  // namespace commpass::bench
