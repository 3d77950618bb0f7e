#include "runtime/plan/arena.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace commpass {
namespace {

TEST(Arena, BeginsEmpty) { EXPECT_EQ(Arena().capacity(), 0); }

TEST(Arena, GrowsByTheAllocatedBytes) {
  Arena arena;
  EXPECT_EQ(arena.allocate(10), 0);
  EXPECT_EQ(arena.allocate(5), 10);
  EXPECT_EQ(arena.capacity(), 15);
}

TEST(Arena, UsesFreedRangesAgain) {
  Arena arena;
  arena.allocate(10);
  arena.allocate(10);
  arena.allocate(10);
  arena.release(0, 10);
  EXPECT_EQ(arena.allocate(4), 0) << "the first that fits";
  EXPECT_EQ(arena.allocate(6), 4);
  arena.release(10, 10);
  EXPECT_EQ(arena.allocate(11), 30) << "a larger block goes behind";
  EXPECT_EQ(arena.allocate(10), 10);
  EXPECT_EQ(arena.capacity(), 41);
}

TEST(Arena, JoinsFreedNeighbours) {
  Arena arena;
  for (int i = 0; i < 4; ++i) arena.allocate(10);
  arena.release(0, 10);
  arena.release(20, 10);
  arena.release(10, 10);  // touches both
  EXPECT_EQ(arena.allocate(30), 0);
  EXPECT_EQ(arena.capacity(), 40);
}

TEST(Arena, GrowsFromTheFreeBytesAtTheEnd) {
  Arena arena;
  arena.allocate(10);
  arena.allocate(10);
  arena.release(10, 10);
  EXPECT_EQ(arena.allocate(25), 10);
  EXPECT_EQ(arena.capacity(), 35);
}

TEST(Arena, TakesPartsOfARangeBack) {
  Arena arena;
  arena.allocate(30);
  arena.release(10, 10);
  EXPECT_EQ(arena.allocate(10), 10);
  arena.release(0, 5);
  arena.release(25, 5);
  EXPECT_EQ(arena.allocate(5), 0);
  EXPECT_EQ(arena.allocate(5), 25);
  EXPECT_EQ(arena.capacity(), 30);
}

TEST(Arena, NeverGivesOutAByteTwiceAndStaysWithinItsCapacity) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (int round = 0; round < 50; ++round) {
    Arena arena;
    std::map<Bytes, Bytes> live;  // offset and size of blocks in use
    Bytes used = 0, most_used = 0;
    for (int step = 0; step < 300; ++step) {
      if (live.empty() || below(5) < 3) {
        const auto bytes = static_cast<Bytes>(1 + below(40));
        const auto offset = arena.allocate(bytes);
        ASSERT_GE(offset, 0);
        ASSERT_LE(offset + bytes, arena.capacity());
        const auto next = live.lower_bound(offset);
        ASSERT_TRUE(next == live.end() || offset + bytes <= next->first);
        ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= offset);
        live[offset] = bytes;
        used += bytes;
      } else {
        const auto range = std::next(live.begin(), static_cast<std::ptrdiff_t>(below(live.size())));
        const auto [offset, bytes] = *range;
        live.erase(range);
        // The whole, or its beginning and its end.
        const auto part = static_cast<Bytes>(below(static_cast<std::size_t>(bytes)));
        if (part > 0) arena.release(offset, part);
        arena.release(offset + part, bytes - part);
        used -= bytes;
      }
      most_used = std::max(most_used, used);
      ASSERT_GE(arena.capacity(), most_used);
    }
    for (const auto& [offset, bytes] : live) arena.release(offset, bytes);
    const auto capacity = arena.capacity();
    EXPECT_EQ(arena.allocate(capacity), 0) << "when all is free it is one range";
    EXPECT_EQ(arena.capacity(), capacity);
  }
}

}  // namespace
}  // namespace commpass
