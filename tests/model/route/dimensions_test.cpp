// Cutting ranks and nodes into dimensions, and varying the cut.
#include "model/route/dimensions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace commpass {
namespace {

using testing::UnorderedElementsAre;

std::vector<Dimensions> varied(const Dimensions& sizes, std::int64_t count) { return vary_dimensions(sizes, count); }

TEST(VariedDimensions, OfOneAreItsCutsInTwo) {
  EXPECT_THAT(varied({16}, 16), UnorderedElementsAre(Dimensions{4, 4}, Dimensions{2, 8}, Dimensions{8, 2}));
  EXPECT_THAT(varied({3}, 3), testing::IsEmpty()) << "nothing smaller than 2";
  EXPECT_THAT(varied({1}, 1), testing::IsEmpty());
}

TEST(VariedDimensions, OfTwoAreMergedSwappedShiftedAndCut) {
  EXPECT_THAT(varied({4, 8}, 32),
              UnorderedElementsAre(Dimensions{2, 2, 8}, Dimensions{32}, Dimensions{8, 4}, Dimensions{2, 16},
                                   Dimensions{4, 3, 3}, Dimensions{4, 2, 4}, Dimensions{4, 4, 2}, Dimensions{16, 2}));
}

TEST(VariedDimensions, AreAllDivisorsOfOneAndOfTwoAdjacentOnes) {
  const auto of_one = varied({60}, 60);
  for (const auto a : {2, 3, 4, 5, 6, 10, 12, 15, 20, 30})
    EXPECT_THAT(of_one, testing::Contains(Dimensions{a, 60 / a})) << a;
  // 8 x 8 has places for 64; these have 60.
  EXPECT_THAT(varied({8, 8}, 60), testing::IsSupersetOf({Dimensions{5, 12}, Dimensions{12, 5}, Dimensions{6, 10}}));
  EXPECT_THAT(varied({3, 4, 5}, 60), testing::IsSupersetOf({Dimensions{2, 6, 5}, Dimensions{3, 10, 2}}));
  EXPECT_THAT(varied({2, 1 << 30, 1 << 30, 1 << 30}, 60), testing::Contains(Dimensions{5, 12})) << "nothing overflows";
}

TEST(VariedDimensions, BeginWithTheNearest) {
  const auto near_first = varied({8, 8}, 60);
  const auto place = [&](const Dimensions& sizes) { return std::ranges::find(near_first, sizes) - near_first.begin(); };
  EXPECT_LT(place({16, 4}), place({5, 12}));
}

TEST(VariedDimensions, ReachTheCountAndWasteNoSlab) {
  for (std::int64_t count = 2; count < 200; count += 7)
    for (const auto& first : varied({count}, count))
      for (const auto& second : varied(first, count)) {
        const auto product = std::accumulate(second.begin(), second.end(), std::int64_t{1}, std::multiplies<>());
        EXPECT_GE(product, count);
        EXPECT_LT(product / second.back() * (second.back() - 1), count) << "the last slab is used";
        EXPECT_NE(second, first);
      }
}

TEST(Dimensions, ThatAreTooSmallGetAReason) {
  EXPECT_EQ(too_small(Dimensions{4, 4}, 16, "ranks"), "");
  EXPECT_EQ(too_small(Dimensions{4, 3}, 16, "ranks"), "the product 12 of its dimensions is less than the 16 ranks");
  EXPECT_EQ(too_small(Dimensions{1 << 30, 1 << 30, 1 << 30, 1 << 30}, 16, "ranks"), "") << "no overflow";
}

}  // namespace
}  // namespace commpass
