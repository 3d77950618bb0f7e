// The strategy that runs where a named one does not apply.
#include "selector/choose/nearest.hpp"

#include <gtest/gtest.h>

#include "model/support.hpp"

namespace commpass {
namespace {

std::string nearest(const std::string& text, const Layout& layout) {
  const auto found = nearest_applicable(parse_strategy(text), layout);
  return found ? to_string(*found) : "none";
}

TEST(NearestStrategy, IsTheStrategyItselfWhereItApplies) {
  const auto layout = Layout::regular(2, 2, 4);
  for (const auto* text : {"standard,window=3", "two-step", "tuna,radix=16,staggered", "tuna,radix=auto",
                           "stfw,dims=4x4,placed", "stfw,n=4", "split,cap=512", "mpi"})
    EXPECT_EQ(nearest(text, layout), text);
}

TEST(NearestStrategy, HasTheNextSmallerNumber) {
  EXPECT_EQ(nearest("tuna,radix=3", Layout::with_ppn(2, 1)), "tuna,radix=2");
  EXPECT_EQ(nearest("tuna,radix=1000000000,window=2", Layout::with_ppn(7, 2)), "tuna,radix=7,window=2");
  EXPECT_EQ(nearest("tuna-node,radix=8", Layout::with_ppn(12, 4)), "tuna-node,radix=4");
  EXPECT_EQ(nearest("stfw,n=3", Layout::with_ppn(4, 2)), "stfw,n=2");
  EXPECT_EQ(nearest("stfw,n=3,placed", Layout::with_ppn(2, 2)), "stfw,n=1,placed") << "with its flags";
}

TEST(NearestStrategy, HasFewerOrOtherDimensionsWhereItsOwnDoNotFit) {
  EXPECT_EQ(nearest("stfw,dims=4x4", Layout::with_ppn(64, 8)), "stfw,n=2") << "as many";
  EXPECT_EQ(nearest("two-step,local=2x2", Layout::with_ppn(7, 4)), "two-step") << "uneven nodes have one digit";
  EXPECT_EQ(nearest("two-step,local=2x2,node=2x2", Layout::with_ppn(7, 4)), "two-step,node=2x2");
  EXPECT_EQ(nearest("two-step,local=2x2,node=2x2", Layout::with_ppn(41, 4)), "two-step") << "neither fits";
}

TEST(NearestStrategy, IsNoneWhereNoneOfItsRouteApplies) {
  const auto one = Layout::with_ppn(1, 1);
  for (const auto* text : {"tuna,radix=3", "tuna,radix=auto", "tuna-node,radix=2", "tuna-node,radix=auto"})
    EXPECT_EQ(nearest(text, one), "none") << text;
  EXPECT_EQ(nearest("tuna-node,radix=2", Layout::with_ppn(8, 1)), "none");
}

TEST(NearestStrategy, OfASparseExchangeKeepsTheDiscovery) {
  const auto found = nearest_applicable(parse_sparse_strategy("stfw,n=3+dense"), Layout::with_ppn(4, 2));
  ASSERT_TRUE(found);
  EXPECT_EQ(to_string(*found), "stfw,n=2+dense");
}

TEST(NearestStrategy, Applies) {
  std::mt19937 random(3);
  const auto draw = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 200; ++round) {
    const auto large = test::draw_layout(1 + draw(40), draw), small = test::draw_layout(1 + draw(9), draw);
    for (const auto& strategy : test::strategies_for(large))
      if (const auto found = nearest_applicable(strategy, small)) {
        EXPECT_NO_THROW(make_route(*found, small)) << to_string(strategy) << " on " << small.describe();
      }
  }
}

}  // namespace
}  // namespace commpass
