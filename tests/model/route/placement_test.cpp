// Which rank sits where in a virtual topology.
#include "model/route/placement.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "model/pattern/generate.hpp"
#include "model/route/draw.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::draw;
using test::most_edges;
using test::most_ranks;

std::vector<Rank> place(const std::string& strategy, const Layout& layout, const Pattern& pattern) {
  return place_ranks(*make_route(parse_strategy(strategy), layout), layout, pattern);
}

/// By all ranks in all stages.
Bytes bytes_sent(const std::string& strategy, const Layout& layout, const Pattern& pattern) {
  Bytes sum = 0;
  for (const auto& stage : test::schedule_of(strategy, layout, pattern).stages)
    for (const auto& message : stage.messages) sum += message.bytes;
  return sum;
}

/// The pattern with ranks renumbered at random, those of a node still together on one.
Pattern shuffled(const Pattern& pattern, const Layout& layout) {
  constexpr std::uint32_t multiplier = 1664525,
                          increment = 1013904223;  // Numerical Recipes' generator: the same everywhere
  std::uint32_t state = 1;
  const auto shuffle = [&](auto& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      state = state * multiplier + increment;
      std::swap(items[i - 1], items[(state >> 8) % i]);
    }
  };
  std::vector<int> nodes(static_cast<std::size_t>(layout.nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  shuffle(nodes);
  std::vector<Rank> renumbered(static_cast<std::size_t>(layout.ranks()));
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto own = layout.ranks_of(node), other = layout.ranks_of(nodes[static_cast<std::size_t>(node)]);
    std::vector<Rank> to(other.begin(), other.end());
    shuffle(to);
    for (std::size_t i = 0; i < own.size(); ++i) renumbered[static_cast<std::size_t>(own[i])] = to[i];
  }
  Pattern result{pattern.ranks, {}};
  for (const auto& [source, destination, bytes, payload] : pattern.edges)
    result.edges.push_back({renumbered[static_cast<std::size_t>(source)],
                            renumbered[static_cast<std::size_t>(destination)], bytes, payload});
  return result;
}

RC_GTEST_PROP(Placement, GivesEachRankAPositionOfItsOwn, ()) {
  const int ranks = 1 + draw(most_ranks);
  const auto layout = test::draw_layout(ranks, draw);
  auto positions = place("stfw,dims=3x2x5x7", layout, test::draw_pattern(ranks, most_edges, draw));
  std::ranges::sort(positions);
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), Rank{0});
  RC_ASSERT(positions == all);
}

RC_GTEST_PROP(Placement, NeverSendsMore, ()) {
  const int ranks = 2 + draw(most_ranks - 1);
  const auto layout = test::draw_layout(ranks, draw);
  auto pattern = test::draw_pattern(ranks, most_edges, draw);
  for (auto& edge : pattern.edges) edge.payload = no_payload;  // placement does not know of payloads for several ranks
  for (const std::string strategy : {"stfw,dims=3x2x5x7", "stfw,n=1", "stfw,dims=2x2x2x2x2x2"})
    RC_ASSERT(bytes_sent(strategy + ",placed", layout, pattern) <= bytes_sent(strategy, layout, pattern));
}

RC_GTEST_PROP(Placement, KeepsTheRanksOfANodeTogether, ()) {
  const int ranks = 1 + draw(most_ranks);
  const auto layout = test::draw_layout(ranks, draw);
  const auto positions = place("stfw,dims=3x2x5x7", layout, test::draw_pattern(ranks, most_edges, draw));
  for (int node = 0; node < layout.nodes(); ++node) {
    std::set<int> nodes;
    for (const auto rank : layout.ranks_of(node)) nodes.insert(layout.node(positions[static_cast<std::size_t>(rank)]));
    RC_ASSERT(nodes.size() == 1U);
  }
}

TEST(Placement, GivesAShuffledStencilItsLocalityBack) {
  const auto stencil = generate_pattern("stencil:dims=8x8,bytes=1000");
  const auto direct = std::accumulate(stencil.edges.begin(), stencil.edges.end(), Bytes{0},
                                      [](Bytes sum, const Edge& edge) { return sum + edge.bytes; });
  for (const auto& layout : {Layout::regular(1, 1, 64), Layout::regular(64, 1, 1), Layout::regular(8, 1, 8)}) {
    SCOPED_TRACE(layout.describe());
    const auto pattern = shuffled(stencil, layout);
    for (const std::string strategy : {"stfw,n=2", "stfw,n=3", "stfw,n=6"}) {
      const auto forwarded = bytes_sent(strategy, layout, pattern) - direct,
                 when_placed = bytes_sent(strategy + ",placed", layout, pattern) - direct;
      EXPECT_LT(2 * when_placed, forwarded) << strategy;
    }
  }
}

TEST(Placement, OfPairsForwardsNothing) {
  // Each rank exchanges with one other, whose address differs in every digit.
  Pattern pattern{16, {}};
  for (Rank rank = 0; rank < 16; ++rank) pattern.edges.push_back({rank, 15 - rank, 100});
  EXPECT_EQ(bytes_sent("stfw,n=4", Layout::with_ppn(16, 16), pattern), 4 * 16 * 100);
  EXPECT_EQ(bytes_sent("stfw,n=4,placed", Layout::with_ppn(16, 16), pattern), 16 * 100);
}

// Of two nodes with four ranks each, as on the corners of a cube whose last dimension leads to the other node.
TEST(Placement, OfPairsOnTwoNodesForwardsNothing) {
  const auto layout = Layout::with_ppn(8, 4);
  Pattern opposite{8, {}};
  for (Rank rank = 0; rank < 8; ++rank) opposite.edges.push_back({rank, 7 - rank, 100});
  EXPECT_EQ(bytes_sent("stfw,n=3", layout, opposite), 3 * 8 * 100);
  EXPECT_EQ(bytes_sent("stfw,n=3,placed", layout, opposite), 8 * 100);
}

// Four nodes of one rank on a square: who exchanges much must not be at opposite corners, however much more the others
// exchange in number.
TEST(Placement, PutsTheLeastTrafficOnTheDiagonals) {
  const auto layout = Layout::with_ppn(4, 1);
  for (int heavy = 1; heavy < 4;
       ++heavy) {  // 0 and `heavy` exchange next to nothing, and so do the two others; all else is heavy
    Pattern pattern{4, {}};
    for (Rank i = 0; i < 4; ++i)
      for (Rank j = 0; j < 4; ++j) {
        const bool is_light =
            (i == 0 && j == heavy) || (j == 0 && i == heavy) || (i != 0 && j != 0 && i != heavy && j != heavy);
        if (i != j) pattern.edges.push_back({i, j, is_light ? 1 : 100});
      }
    EXPECT_EQ(bytes_sent("stfw,n=2,placed", layout, pattern), 8 * 100 + 4 * 2) << heavy;
    const auto positions = place("stfw,n=2", layout, pattern);
    EXPECT_EQ(positions[0] ^ positions[static_cast<std::size_t>(heavy)], 3) << "opposite corners";
  }
}

TEST(Placement, TriesNoTradesOfRanksThatSendNothing) {
  constexpr int ranks = 200000;  // all pairs would take minutes
  const auto positions = place("stfw,n=2", Layout::with_ppn(ranks, 1), {ranks, {{0, ranks - 1, 100}}});
  EXPECT_EQ(std::set(positions.begin(), positions.end()).size(), std::size_t{ranks});
}

TEST(Placement, OfAnotherNumberOfRanksIsRefused) {
  test::expect_sentence(test::error_of([] {
                          place("stfw,n=2", Layout::with_ppn(6, 2), {4, {}});
                        }),
                        {"6 ranks", "has 4"});
}

}  // namespace
}  // namespace commpass
