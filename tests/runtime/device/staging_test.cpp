// Staged ranges and plans, and the helpers that copy their parts.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/device/copy_groups.hpp"
#include "runtime/device/staged_bytes.hpp"

namespace commpass {
namespace {

TEST(StagedRanges, KeepAdjacentBytesTogetherAndEachByteOnce) {
  const StagedRanges ranges({{100, 10, 0}, {0, 4, 0}, {4, 4, 0}, {104, 20, 0}, {50, 0, 0}}, 0);
  EXPECT_EQ(ranges.ranges().size(), 2U);
  EXPECT_EQ(ranges.bytes(), 8 + 24);
  EXPECT_EQ(ranges.place_of(5), 5);
  EXPECT_EQ(ranges.place_of(100), 8);
  EXPECT_EQ(ranges.place_of(123), 31);
  EXPECT_EQ(ranges.extent().offset, 0);
  EXPECT_EQ(ranges.extent().bytes, 124);
}

TEST(StagedRanges, BridgeGapsUpToAWidth) {
  const std::vector<StagedRanges::Range> wanted{{0, 4, 0}, {10, 4, 0}, {30, 4, 0}};
  EXPECT_EQ(StagedRanges(wanted, 5).ranges().size(), 3U);
  const StagedRanges bridged(wanted, 6);
  EXPECT_EQ(bridged.ranges().size(), 2U);
  EXPECT_EQ(bridged.bytes(), 14 + 4);
}

TEST(StagedRanges, OfNothingAreNone) {
  const StagedRanges none({{7, 0, 0}}, 100);
  EXPECT_TRUE(none.ranges().empty());
  EXPECT_EQ(none.bytes(), 0);
  EXPECT_EQ(none.extent().bytes, 0);
}

TEST(StagedPlan, PutsTheUsersPlacesIntoOursAndLeavesTheRest) {
  Plan plan;
  plan.self = {{{Place::Buffer::send, 0}, {Place::Buffer::receive, 0}, 4}};
  PlannedBatch batch;
  batch.sends.push_back({1, {Place::Buffer::packing, 3}, 8, {{0, {Place::Buffer::send, 104}, 8}}});
  batch.receives.push_back({1, {Place::Buffer::receive, 50}, 8});
  plan.batches.push_back(batch);
  const StagedRanges sends({{100, 20, 0}}, 0);
  const auto staged = staged_plan(plan, &sends, nullptr);
  EXPECT_TRUE(staged.self.empty());
  EXPECT_EQ(staged.batches[0].sends[0].pieces[0].place.offset, 4);
  EXPECT_EQ(staged.batches[0].sends[0].place.offset, 3);
  EXPECT_EQ(staged.batches[0].receives[0].place.offset, 50);
}

// Nodes of 4 ranks, of which the first has data; on the second node the first two have.
class Helped : public testing::Test {
 protected:
  static constexpr auto none = OnDevice::nothing, both = OnDevice::both;
  Layout layout = Layout::with_ppn(8, 4);
  std::vector<OnDevice> data{both, none, none, none, both, OnDevice::sends, none, none};
};

TEST_F(Helped, AreThoseOfTheNodeWithoutDataEachByOwnHelpers) {
  const CopyGroups groups(layout, data, 4);
  EXPECT_EQ(std::vector<Rank>(groups.helpers(0).begin(), groups.helpers(0).end()), (std::vector<Rank>{1, 2, 3}));
  EXPECT_EQ(std::vector<Rank>(groups.helpers(4).begin(), groups.helpers(4).end()), (std::vector<Rank>{6}));
  EXPECT_EQ(std::vector<Rank>(groups.helpers(5).begin(), groups.helpers(5).end()), (std::vector<Rank>{7}));
  EXPECT_EQ(groups.helped(2), 0);
  EXPECT_EQ(groups.helped(7), 5);
  EXPECT_EQ(groups.helped(0), 0);
  const CopyGroups two(layout, data, 2);
  EXPECT_EQ(two.helpers(0).size(), 1U);
  EXPECT_EQ(two.helped(3), 3);
}

TEST_F(Helped, SharesCoverAnEdgeOnceAndAreOfTheGroupsOfItsEnds) {
  const CopyGroups groups(layout, data, 4);
  for (const Rank destination : {4, 5, 6})
    for (const Bytes bytes : {Bytes{1}, Bytes{8191}, Bytes{16384}, Bytes{1000003}}) {
      const auto shares = groups.shares(0, destination, 3, bytes);
      Bytes end = 0;
      for (const auto& share : shares) {
        EXPECT_EQ(share.offset, end);
        EXPECT_GT(share.bytes, 0);
        EXPECT_LT(share.sender, 4);
        // Rank 5 gets its data in host memory, and rank 6 helps rank 4 but gets its own edges alone.
        EXPECT_TRUE(share.receiver == destination || (destination == 4 && share.receiver == 6));
        end += share.bytes;
      }
      EXPECT_EQ(end, bytes);
      EXPECT_EQ(shares.size(), bytes < 16384 ? 1U : bytes < 100000 ? 2U : 4U);
    }
}

TEST_F(Helped, SmallEdgesAreSentByOneAfterAnother) {
  const CopyGroups groups(layout, data, 4);
  std::vector<Rank> senders;
  for (std::int64_t index = 0; index < 4; ++index) senders.push_back(groups.shares(0, 4, index, 8).front().sender);
  std::ranges::sort(senders);
  EXPECT_EQ(senders, (std::vector<Rank>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace commpass
