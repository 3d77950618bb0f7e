// Addresses are computed; here they are compared with counted ones.
#include "model/route/address.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace commpass {
namespace {

std::vector<Address> addresses() {
  std::vector<Address> result;
  for (const auto& radices : {std::vector{3, 4}, std::vector{4, 3}, std::vector{2, 2, 3}, std::vector{5, 3}})
    for (const int ranks : {11, 12}) result.push_back(Address::flat(ranks, radices));
  const std::vector local{2, 2}, node{2, 2};
  result.push_back(Address::of_nodes(parse_layout("0,1,2,0,1,2,0,0")));
  result.push_back(Address::of_nodes(parse_layout("0,0,0,1,1,1,2,2,2"), local, node));
  result.push_back(Address::of_nodes(parse_layout("0,1,2,0,1,2"), {}, node));
  auto moved = Address::flat(5, std::vector{2, 3});
  moved.place(std::vector{4, 2, 0, 1, 3});
  result.push_back(moved);
  return result;
}

TEST(AnAddress, IsThatOfItsRank) {
  for (const auto& address : addresses())
    for (Rank rank = 0; rank < address.ranks(); ++rank) EXPECT_EQ(address.rank_at(address.of_rank(rank)), rank);
}

TEST(AnAddress, KnowsForWhichVirtualRanksARankStands) {
  for (const auto& address : addresses()) {
    std::vector<std::vector<int>> expected(static_cast<std::size_t>(address.ranks()));
    for (int v = 0; v < address.virtual_ranks(); ++v)
      expected[static_cast<std::size_t>(address.rank_at(v))].push_back(v);
    for (Rank rank = 0; rank < address.ranks(); ++rank)
      EXPECT_EQ(address.virtual_ranks_of(rank), expected[static_cast<std::size_t>(rank)]);
  }
}

TEST(AnAddress, CountsTheRanksThatShareDigitsWhereItCan) {
  int counted = 0;
  for (const auto& address : addresses()) {
    std::vector<int> weights{1};
    for (const auto& digit : address.digits) weights.push_back(weights.back() * digit.radix);
    for (std::size_t low = 0; low < weights.size(); ++low)
      for (auto high = low + 1; high < weights.size(); ++high)
        for (int v = 0; v < address.virtual_ranks(); ++v) {
          const DigitRange digits{weights[low], weights[high]};
          const auto count = address.count_alike(v, digits);
          if (!count) continue;
          ++counted;
          int expected = 0;
          for (Rank rank = 0; rank < address.ranks(); ++rank)
            expected += digits.part_of(address.of_rank(rank)) == digits.part_of(v) ? 1 : 0;
          EXPECT_EQ(*count, expected);
        }
  }
  EXPECT_GT(counted, 100);
}

}  // namespace
}  // namespace commpass
