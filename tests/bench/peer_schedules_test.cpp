// What other libraries send, against the counts of the papers.
#include "bench/peer_schedules.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/skewed_patterns.hpp"
#include "model/pattern/generate.hpp"

namespace commpass::bench {
namespace {

struct Counts {
  std::size_t messages = 0;
  Bytes bytes = 0;
  bool operator==(const Counts&) const = default;
};

Counts between_nodes(const PeerSchedule& schedule, const Layout& layout) {
  Counts counts;
  for (const auto& message : schedule)
    if (layout.node(message.from) != layout.node(message.to)) {
      ++counts.messages;
      counts.bytes += message.bytes;
    }
  return counts;
}

// The node-aware papers: one message for each pair of nodes that exchange anything, and no byte crosses twice.
TEST(LocalityAware, SendsOneMessageBetweenTwoNodesAndNoByteTwice) {
  for (const auto& layout : {Layout::regular(4, 1, 4), Layout::regular(3, 2, 3), Layout::with_ppn(10, 4)}) {
    for (const auto degree : {1, 3, 8}) {
      const auto pattern = generate_pattern(fmt::format("random:ranks={},bytes=64,degree={}", layout.ranks(), degree));
      std::set<std::pair<int, int>> pairs;
      Bytes bytes = 0;
      for (const auto& edge : pattern.edges) {
        const std::pair ends(layout.node(edge.source), layout.node(edge.destination));
        if (ends.first == ends.second) continue;
        pairs.insert(ends);
        bytes += edge.bytes;
      }
      EXPECT_EQ(between_nodes(locality_aware(pattern, layout), layout), (Counts{pairs.size(), bytes}));
    }
  }
}

// An all-to-all of N nodes of Q ranks: N − 1 nodes are dealt to the Q ranks of each.
TEST(LocalityAware, DealsTheOtherNodesToItsRanks) {
  const auto layout = Layout::regular(5, 1, 2);
  std::map<Rank, int> sent;
  for (const auto& message : locality_aware(generate_pattern("alltoall:ranks=10,bytes=1"), layout))
    if (message.stage == 1) ++sent[message.from];
  for (const auto& [rank, messages] : sent) EXPECT_EQ(messages, 2) << rank;
  EXPECT_EQ(sent.size(), 10U);
}

// Nodes {0, 1} and {2, 3}: rank 0 speaks for its node, rank 2 for the other.
TEST(LocalityAware, GathersExchangesAndHandsOut) {
  const Pattern pattern{4, {{0, 1, 5}, {1, 2, 7}, {1, 3, 11}, {0, 3, 13}}};
  EXPECT_EQ(locality_aware(pattern, Layout::regular(2, 1, 2)),
            (PeerSchedule{{0, 0, 1, 5, 0, 0}, {0, 1, 0, 18, 2, 0}, {1, 0, 2, 31, 3, 0}, {2, 2, 3, 24, 2, 2}}));
}

TEST(PlainLoops, SendEveryEdgeOnceInTheirOrder) {
  const Pattern pattern{4, {{1, 0, 5}, {1, 2, 7}, {1, 3, 11}, {1, 1, 2}, {2, 0, 0}}};
  const auto layout = Layout::regular(2, 1, 2);
  EXPECT_EQ(plain_loop(pattern, layout), (PeerSchedule{{0, 1, 0, 5}, {0, 1, 2, 7}, {0, 1, 3, 11}}));
  EXPECT_EQ(loop_by_distance(pattern, layout), (PeerSchedule{{0, 1, 2, 7}, {0, 1, 3, 11}, {0, 1, 0, 5}}));
}

TEST(SkewedPatterns, AreWhatTheirNamesSay) {
  constexpr int ranks = 60;
  std::map<Rank, Bytes> to, from;
  for (const auto& edge : hot_receiver(ranks).edges) to[edge.destination] += edge.bytes;
  for (const auto& edge : hot_sender(ranks).edges) from[edge.source] += edge.bytes;
  for (Rank rank = 0; rank < ranks; ++rank)
    if (rank != 1) {
      EXPECT_LT(50 * to[rank], 10 * to[1]);
      EXPECT_LT(50 * from[rank], 10 * from[1]);
    }
  std::map<Rank, int> partners;
  for (const auto& edge : power_law_of_partners(ranks).edges) ++partners[edge.source];
  std::multiset<int> degrees;
  for (const auto& [rank, degree] : partners) degrees.insert(degree);
  EXPECT_EQ(*degrees.rbegin(), ranks - 1);
  EXPECT_EQ(*std::next(degrees.rbegin()), ranks / 2);
  EXPECT_EQ(degrees.count(1), static_cast<std::size_t>(ranks / 2));
  Bytes least = 1 << 30, most = 0;
  for (const auto& edge : wide_sizes(ranks).edges) {
    least = std::min(least, edge.bytes);
    most = std::max(most, edge.bytes);
  }
  EXPECT_LE(least, 4);
  EXPECT_GE(most, 150 * 1024);
}

}  // namespace
}  // namespace commpass::bench
