// Which exchanges are chosen together: against the same by real numbers.
#include "selector/choose/exchange_class.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

#include "model/pattern/generate.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

constexpr std::size_t spread_place = 3, even_place = 4;

/// The class of blocks by their statistics, in real numbers: a slow reference.
ExchangeClass class_by_statistics(const RandomPattern& blocks) {
  constexpr int never = 62;
  if (!(blocks.block_bytes > 0)) return {never, never, 0};
  const auto rarity_of = [](double density) {
    if (!(density > 0)) return never;
    int rarity = 0;
    for (; density < 0.7071 && rarity < never - 1; density *= 2) ++rarity;
    return rarity;
  };
  const auto bytes = static_cast<std::uint64_t>(std::clamp(blocks.block_bytes, 1.0, std::ldexp(1, 40)));
  int spread = 0;
  for (double least = 0.2; blocks.size_variance > least && spread < 6; least *= 4) ++spread;
  return {rarity_of(blocks.density_on_node), rarity_of(blocks.density_off_node),
          static_cast<int>(std::bit_width(bytes)), spread, blocks.is_even ? 1 : 0};
}

TEST(BlocksClass, FromSumsIsThatOfTheirRandomPattern) {
  for (const char* text : {"1x1", "1x4", "4x1", "3x5", "64x16"}) {
    const auto layout = parse_layout(text);
    for (std::int64_t on_node = 0; on_node < 20000; on_node = 3 * on_node + 1)
      for (std::int64_t off_node = 0; off_node < 900000; off_node = 5 * off_node + 1)
        for (const Bytes bytes : {Bytes{0}, Bytes{1000}, Bytes{123456789}, Bytes{1} << 60}) {
          const MessageTotals sums{on_node, off_node, static_cast<double>(bytes)};
          const std::int64_t pairs_on_node = std::int64_t{layout.ranks()} * (layout.max_ppn() - 1),
                             pairs_off_node = std::int64_t{layout.ranks()} * (layout.ranks() - layout.max_ppn());
          if (on_node > pairs_on_node || off_node > pairs_off_node) continue;  // no exchange has that number
          EXPECT_EQ(class_of(sums, layout), class_by_statistics(random_pattern(sums, layout)))
              << text << ": " << on_node << " and " << off_node << " blocks, " << bytes << " bytes";
        }
  }
}

TEST(BlocksClass, HoldsSizesWithinAFactorOfTwo) {
  const auto full = class_of_full(1000);
  EXPECT_EQ(full, (ExchangeClass{0, 0, 10}));
  EXPECT_EQ(class_of_full(513), full);
  EXPECT_NE(class_of_full(1024), full);
  EXPECT_EQ(class_of_full(0.5), class_of_full(1));
  // Of 16 ranks on 4 nodes: 48 pairs on a node, and 192 between nodes.
  const auto layout = Layout::with_ppn(16, 4);
  const auto of = [&](std::int64_t on_node, std::int64_t off_node, double bytes) {
    MessageTotals totals;
    totals.on_node = on_node;
    totals.off_node = off_node;
    totals.bytes = bytes;
    auto result = class_of(totals, layout);
    result[spread_place] = result[even_place] = 0;
    return result;
  };
  EXPECT_EQ(of(48, 192, 240e3), full);
  EXPECT_EQ(of(36, 144, 180 * 513), full);
  EXPECT_NE(of(33, 192, 225e3), full);
  EXPECT_EQ(of(12, 2, 14), (ExchangeClass{2, 7, 1}));
  EXPECT_EQ(of(0, 0, 0), class_of_full(0)) << "nothing";
  EXPECT_EQ(class_of_full(std::numeric_limits<double>::quiet_NaN()), class_of_full(0));
}

TEST(BlocksClass, TellsHowFarSizesAreFromTheirMean) {
  const auto layout = Layout::with_ppn(16, 4);
  const auto spread_of = [&](const std::string& sizes) {
    const auto pattern = generate_pattern("alltoallv:ranks=16,bytes=4KiB,sizes=" + sizes);
    const auto blocks = class_of(totals_of(pattern, layout), layout);
    EXPECT_EQ(blocks, class_by_statistics(random_pattern(totals_of(pattern, layout), layout))) << sizes;
    return blocks[spread_place];
  };
  EXPECT_EQ(class_of(totals_of(test::alltoall(16, 1000), layout), layout)[spread_place], 0);
  EXPECT_EQ(spread_of("uniform"), 1);
  EXPECT_GE(spread_of("power-law"), 3);
}

TEST(BlocksClass, TellsWhetherRanksSendToAsManyOthers) {
  const auto layout = Layout::with_ppn(64, 4);
  const auto is_even_of = [&](const Pattern& pattern) {
    return class_of(totals_of(pattern, layout), layout)[even_place] == 1;
  };
  EXPECT_TRUE(is_even_of(generate_pattern("random:ranks=64,bytes=8,degree=6")));
  EXPECT_TRUE(is_even_of(generate_pattern("random:ranks=64,bytes=8,degree=1")));
  EXPECT_FALSE(is_even_of(test::alltoall(64, 8))) << "nothing to draw";
  Pattern alone{64, {}};  // each pair by itself
  std::mt19937_64 random(1);
  for (Rank source = 0; source < 64; ++source)
    for (Rank destination = 0; destination < 64; ++destination)
      if (source != destination && random() % 8 == 0) alone.edges.push_back({source, destination, 8});
  EXPECT_FALSE(is_even_of(alone));
}

TEST(BlocksClass, OfSizesThatAllKnowIsFiner) {
  for (const Bytes bytes : {Bytes{1}, Bytes{2}, Bytes{7}, Bytes{8}, Bytes{512}, Bytes{1000}, Bytes{1} << 39}) {
    const auto own = class_of_equal(bytes);
    EXPECT_GT(distance(own, class_of_full(static_cast<double>(bytes))), 1) << "others have to be told";
    for (const Bytes other : {bytes - bytes / 4 - 1, bytes + bytes / 4 + 1})
      EXPECT_NE(class_of_equal(other), own) << bytes;
  }
  EXPECT_EQ(class_of_equal(std::numeric_limits<Bytes>::max()), class_of_equal(Bytes{1} << 50));
}

// Protocols go up to a round size, which takes much longer by the next one.
TEST(BlocksClass, OfSizesThatAllKnowEndsAtRoundSizes) {
  for (const Bytes round : {Bytes{512}, Bytes{4096}, Bytes{5120}, Bytes{65536}, Bytes{1} << 20}) {
    EXPECT_EQ(class_of_equal(round), class_of_equal(round - 1)) << round;
    EXPECT_NE(class_of_equal(round), class_of_equal(round + 1)) << round;
  }
}

TEST(SparseClass, OfExpectedTrafficIsNearThatOfSuchAnExchange) {
  for (const auto& layout : {Layout::with_ppn(1, 1), Layout::with_ppn(2, 2), Layout::with_ppn(7, 3),
                             Layout::with_ppn(64, 1), Layout::with_ppn(4096, 32)})
    for (double messages = 0; messages <= 4096; messages = 2 * messages + 1)
      for (const double bytes : {0.0, 1.0, 100.0, 1e6}) {
        const auto rough = class_of_expected(messages, bytes, layout),
                   all = class_of(expected_traffic(messages, bytes, layout), layout.ranks());
        constexpr std::size_t of_a_node = 3;  // whose messages expected_traffic() rounds down
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (messages == 1 && i == of_a_node) continue;
          EXPECT_LE(std::abs(rough[i] - all[i]), 1)
              << "number " << i << ", " << messages << " messages of " << bytes << ", " << layout.describe();
        }
      }
}

TEST(SparseClass, TakesAnyHint) {
  const auto layout = Layout::with_ppn(8, 2);
  const auto nothing = class_of_expected(0, 0, layout), most = class_of_expected(7, 1e10, layout);
  constexpr auto infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(class_of_expected(-1, none, layout), nothing);
  EXPECT_EQ(class_of_expected(none, 8, layout), nothing);
  EXPECT_EQ(class_of_expected(infinity, 1e30, layout), most);
  EXPECT_NE(class_of_expected(7, 8, layout), most);
}

}  // namespace
}  // namespace commpass
