// Pairs of ranks that are timed at once.
#include "calibrate/fit/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace commpass {
namespace {

void expect_disjoint(const std::vector<Pair>& pairs) {
  std::set<Rank> ranks;
  for (const auto& pair : pairs)
    for (const Rank rank : {pair.first, pair.second})
      EXPECT_TRUE(ranks.insert(rank).second) << "rank " << rank << " is in two pairs";
}

TEST(DisjointPairs, AreSoRelatedAndActiveAtOnce) {
  for (const auto& layout :
       {Layout::regular(2, 2, 4), Layout::regular(3, 2, 1), Layout::with_ppn(13, 5), Layout::with_ppn(7, 1)})
    for (const auto level : {standard_level::socket, standard_level::node, standard_level::network}) {
      const auto pairs = disjoint_pairs(layout, level);
      expect_disjoint(pairs);
      for (const auto& pair : pairs)
        EXPECT_EQ(layout.channel_level(pair.first, pair.second), level) << layout.describe();
    }
}

TEST(DisjointPairs, AreAsManyAsThePartThatIsSharedHas) {
  const auto layout = Layout::regular(2, 2, 4);
  EXPECT_EQ(disjoint_pairs(layout, standard_level::socket), (std::vector<Pair>{{0, 1}, {2, 3}})) << "of one socket";
  EXPECT_EQ(disjoint_pairs(layout, standard_level::node), (std::vector<Pair>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(disjoint_pairs(layout, standard_level::network).size(), 8U);
  EXPECT_EQ(disjoint_pairs(parse_layout("0,1,1,2,2,2"), standard_level::network), (std::vector<Pair>{{3, 1}, {4, 2}}))
      << "the two largest nodes";
  EXPECT_TRUE(disjoint_pairs(Layout::with_ppn(4, 4), standard_level::network).empty());
  EXPECT_TRUE(disjoint_pairs(Layout::with_ppn(4, 1), standard_level::socket).empty());
}

TEST(PairsIntoOneNode, ComeFromAllOthersInTurn) {
  EXPECT_EQ(pairs_into_one_node(Layout::with_ppn(12, 4)), (std::vector<Pair>{{4, 0}, {8, 1}, {5, 2}, {9, 3}}));
  EXPECT_EQ(pairs_out_of_one_node(Layout::with_ppn(12, 4)), (std::vector<Pair>{{0, 4}, {1, 8}, {2, 5}, {3, 9}}));
  EXPECT_EQ(pairs_into_one_node(parse_layout("0,1,1,1,2,2")), (std::vector<Pair>{{4, 1}, {0, 2}, {5, 3}}))
      << "into the largest, from uneven ones";
  EXPECT_EQ(pairs_out_of_one_node(Layout::with_ppn(8, 4)),
            disjoint_pairs(Layout::with_ppn(8, 4), standard_level::network))
      << "of two nodes there is one other";
  EXPECT_TRUE(pairs_into_one_node(Layout::with_ppn(4, 4)).empty());
}

TEST(Partners, AreOthersThatAreSoRelated) {
  const auto layout = Layout::regular(2, 2, 2);
  EXPECT_EQ(partners(layout, 1, standard_level::socket), std::vector<Rank>{0});
  EXPECT_EQ(partners(layout, 1, standard_level::node), (std::vector<Rank>{2, 3}));
  EXPECT_EQ(partners(layout, 1, standard_level::network), (std::vector<Rank>{4, 5, 6, 7}));
  EXPECT_EQ(partners(Layout::with_ppn(40, 40), 3, standard_level::socket).size(), 16U) << "no more are needed";
  EXPECT_EQ(partners(Layout::with_ppn(40 * 40, 40), 0, standard_level::network).back(), 16 * 40)
      << "of as many nodes as there are, so that it is not what one of them sends that shows";
}

TEST(Rings, KeepAllNodesOrAllRanksOfANodeBusy) {
  using Rings = std::vector<std::vector<Rank>>;
  EXPECT_EQ(rings_between_nodes(parse_layout("0,0,1,1,2")), (Rings{{0, 2, 4}, {1, 3}}));
  EXPECT_TRUE(rings_between_nodes(Layout::with_ppn(4, 4)).empty());
  EXPECT_EQ(rings_within(Layout::regular(2, 2, 3), standard_level::node), (Rings{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_TRUE(rings_within(Layout::regular(2, 2, 1), standard_level::node).empty());
  EXPECT_EQ(rings_between(parse_layout("3x1x1x2"), standard_level::group), (Rings{{0, 2, 4}, {1, 5, 3}}))
      << "what a group sends goes to all others";
  EXPECT_EQ(rings_between(parse_layout("4x1x1x2"), standard_level::group), (Rings{{0, 2, 4, 6}, {1, 5}, {3, 7}}));
  EXPECT_EQ(rings_between(parse_layout("0.0.0,1.0.0,1.0.0,0.1.0,1.1.0"), standard_level::group),
            (Rings{{0, 1}, {3, 2}}));
  EXPECT_TRUE(rings_between(parse_layout("4x2"), standard_level::group).empty());
  const auto pods = parse_layout("pod=2,rack=2,node=1,core=2");
  constexpr Level rack = 1, pod = 2;
  EXPECT_EQ(rings_between(pods, rack), (Rings{{0, 2}, {1, 3}, {4, 6}, {5, 7}})) << "within their pods";
  EXPECT_EQ(rings_between(pods, pod), (Rings{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

}  // namespace
}  // namespace commpass
