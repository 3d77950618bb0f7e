// The papers' numbers (design §7) for the routes that exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "model/distance_route.hpp"
#include "model/routes/stfw.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::alltoall;
using test::schedule_of;

Layout one_rank_a_node(int ranks) { return Layout::with_ppn(ranks, 1); }

/// Messages that each rank sends in all stages together.
std::vector<int> messages_sent(const Schedule& schedule) {
  std::vector<int> sent(static_cast<std::size_t>(schedule.ranks));
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) ++sent[static_cast<std::size_t>(message.from)];
  return sent;
}

Bytes volume(const Schedule& schedule) {
  Bytes sum = 0;
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) sum += message.bytes;
  return sum;
}

struct Bounds {
  int ranks;
  std::map<int, int> bound_by_n;
};

const Bounds stfw_bounds[] = {
    {64, {{2, 14}, {3, 9}, {4, 8}, {5, 7}, {6, 6}}},
    {512, {{2, 46}, {3, 21}, {4, 16}, {5, 13}, {6, 12}, {7, 11}, {8, 10}, {9, 9}}},
    {16384, {{2, 254}, {3, 77}, {4, 44}, {8, 20}, {9, 19}, {13, 15}, {14, 14}}}};

TEST(StfwOfPowersOfTwo, HasThePapersBoundsOnMessages) {
  for (const auto& [ranks, bounds] : stfw_bounds)
    for (const auto& [n, bound] : bounds) {
      const auto dimensions = stfw_dimensions(ranks, n);
      EXPECT_EQ(stfw_message_bound(dimensions), bound) << ranks << " ranks, n=" << n;
      std::int64_t product = 1;
      for (const int size : dimensions) product *= size;
      EXPECT_EQ(product, ranks) << "n=" << n;
      EXPECT_EQ(std::ssize(dimensions), n);
    }
}

TEST(StfwOfPowersOfTwo, GivesTheFirstDimensionsOneBitMore) {
  // lg 512 = 9 = 2 + 2 + 2 + 2 + 1 for n=5.
  EXPECT_EQ(stfw_dimensions(512, 5), (std::vector{4, 4, 4, 4, 2}));
  EXPECT_EQ(stfw_dimensions(16384, 3), (std::vector{32, 32, 16}));
}

TEST(Stfw, AttainsItsBoundOnEveryRankInAnAllToAll) {
  for (const int ranks : {64, 256}) {
    const auto pattern = alltoall(ranks, 1);
    for (int n = 2; n <= stfw_most_dimensions(ranks); ++n) {
      const auto schedule = schedule_of("stfw,n=" + std::to_string(n), one_rank_a_node(ranks), pattern);
      const auto bound = stfw_message_bound(stfw_dimensions(ranks, n));
      EXPECT_EQ(messages_sent(schedule), std::vector(static_cast<std::size_t>(ranks), bound)) << ranks << " ranks, n=" << n;
      EXPECT_LE(schedule.buffered_blocks_max, ranks - 1) << ranks << " ranks, n=" << n;
    }
  }
}

TEST(Stfw, MovesThePapersVolumeInAnAllToAll) {
  constexpr int ranks = 256;
  const auto pattern = alltoall(ranks, 1);
  const double direct = ranks * (ranks - 1.0);
  for (const auto& [n, paper] : std::map<int, double>{{2, 1.88}, {4, 3.01}, {8, 4.02}}) {
    const auto moved = static_cast<double>(volume(schedule_of("stfw,n=" + std::to_string(n), one_rank_a_node(ranks), pattern)));
    constexpr double two_digits = 0.005;
    EXPECT_NEAR(moved / direct, paper, two_digits) << "n=" << n;
  }
}

TEST(Stfw, HasNotMoreDimensionsThanBits) {
  EXPECT_EQ(stfw_most_dimensions(1), 1);
  EXPECT_EQ(stfw_most_dimensions(2), 1);
  EXPECT_EQ(stfw_most_dimensions(64), 6);
  EXPECT_EQ(stfw_most_dimensions(65), 7);
}

TEST(Stfw, CoversAnyNumberOfRanks) {
  for (int ranks = 2; ranks <= 300; ++ranks)
    for (int n = 1; n <= stfw_most_dimensions(ranks); ++n) {
      const auto dimensions = stfw_dimensions(ranks, n);
      std::int64_t product = 1;
      for (const int size : dimensions) product *= size;
      EXPECT_GE(product, ranks) << "n=" << n;
      // As near to the n-th root as it goes: no size is above its rounded-up root for n sizes, nor a power of two twice it.
      const double root = std::pow(ranks, 1.0 / n);
      EXPECT_LT(*std::ranges::max_element(dimensions), 2 * root + 1e-9) << ranks << " ranks, n=" << n;
    }
}

TEST(NotFullAddresses, NeedAtMostTwiceThePeersAndLessThanTwiceTheBlocks) {
  for (int ranks = 2; ranks <= 48; ++ranks) {
    const auto pattern = alltoall(ranks, 1);
    for (int n = 2; n <= stfw_most_dimensions(ranks); ++n) {
      const auto strategy = "stfw,n=" + std::to_string(n);
      const auto route = make_route(parse_strategy(strategy), one_rank_a_node(ranks));
      int bound = 0;
      for (const auto& stage : route->stages()) bound += stage.rounds;
      const auto schedule = make_schedule(*route, {}, pattern);
      EXPECT_LE(std::ranges::max(messages_sent(schedule)), 2 * bound) << ranks << " ranks, " << strategy;
      EXPECT_LT(schedule.buffered_blocks_max, 2 * ranks) << ranks << " ranks, " << strategy;
    }
  }
}

TEST(Tuna, HasThePapersRoundsAndBuffer) {
  EXPECT_EQ(tuna_buffer_blocks(8, 2), 4);
  EXPECT_EQ(tuna_buffer_blocks(8, 3), 3);
  EXPECT_EQ(tuna_buffer_blocks(8, 4), 3);
  for (int ranks = 2; ranks <= 70; ++ranks)
    for (int radix = 2; radix <= ranks; ++radix) {
      int pairs = 0;  // (x, z) with 1 ≤ z < r and z·rˣ < P
      for (std::int64_t weight = 1; weight < ranks; weight *= radix)
        for (int z = 1; z < radix; ++z) pairs += z * weight < ranks;
      EXPECT_EQ(tuna_rounds(ranks, radix), pairs) << ranks << " ranks, radix " << radix;
      EXPECT_EQ(tuna_buffer_blocks(ranks, radix), ranks - (pairs + 1)) << ranks << " ranks, radix " << radix;
    }
}

TEST(Tuna, SendsOneMessageARoundAndHoldsNoMoreThanItsBuffer) {
  for (const int ranks : {2, 3, 7, 8, 13, 16, 27, 30})
    for (int radix = 2; radix <= ranks; ++radix) {
      const auto schedule = schedule_of("tuna,radix=" + std::to_string(radix), one_rank_a_node(ranks), alltoall(ranks, 1));
      EXPECT_EQ(messages_sent(schedule), std::vector(static_cast<std::size_t>(ranks), tuna_rounds(ranks, radix))) << ranks << " ranks, radix " << radix;
      EXPECT_LE(schedule.buffered_blocks_max, tuna_buffer_blocks(ranks, radix)) << ranks << " ranks, radix " << radix;
    }
}

TEST(Tuna, NeedsNoBufferFromRadixPMinus1) {
  for (const int ranks : {3, 4, 8, 13, 29})
    for (const int radix : {ranks - 1, ranks}) {
      EXPECT_EQ(tuna_buffer_blocks(ranks, radix), 0);
      EXPECT_EQ(schedule_of("tuna,radix=" + std::to_string(radix), one_rank_a_node(ranks), alltoall(ranks, 5)).buffered_blocks_max, 0);
    }
}

/// Who sends how much to whom in which round, in one set.
std::multiset<std::tuple<Rank, Rank, int, Bytes>> messages_of(const Schedule& schedule) {
  std::multiset<std::tuple<Rank, Rank, int, Bytes>> result;
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) result.insert({message.from, message.to, message.round, message.bytes});
  return result;
}

TEST(Tuna, OfRadixPIsStandard) {
  for (const int ranks : {2, 5, 8, 12}) {
    Pattern pattern{ranks, {}};
    for (Rank i = 0; i < ranks; ++i)
      for (Rank j = 0; j < ranks; j += 1 + i % 3) pattern.edges.push_back({i, j, 1 + 7 * i + j});
    const auto layout = one_rank_a_node(ranks);
    const auto tuna = messages_of(schedule_of("tuna,radix=" + std::to_string(ranks), layout, pattern));
    EXPECT_EQ(tuna, messages_of(schedule_of("standard", layout, pattern)));
    EXPECT_FALSE(tuna.empty());
  }
}

TEST(Standard, SendsEachBlockOnceAndHoldsNothing) {
  const auto schedule = schedule_of("standard", Layout::with_ppn(6, 2), alltoall(6, 9));
  ASSERT_EQ(schedule.stages.size(), 1U);
  EXPECT_EQ(schedule.stages[0].messages.size(), 6U * 5U);
  EXPECT_EQ(volume(schedule), 6 * 5 * 9);
  EXPECT_EQ(schedule.buffered_blocks_max, 0);
  for (const auto& message : schedule.stages[0].messages) EXPECT_EQ(message.packed_pieces + message.unpacked_pieces, 0U);
}

TEST(TwoStep, SendsOneMessageToEveryOtherNodeThenOneToEveryMate) {
  constexpr int nodes = 4, ppn = 3;
  const auto schedule = schedule_of("two-step", Layout::regular(nodes, 1, ppn), alltoall(nodes * ppn, 10));
  ASSERT_EQ(schedule.stages.size(), 2U);
  EXPECT_EQ(schedule.stages[0].messages.size(), static_cast<std::size_t>(nodes * ppn * (nodes - 1)));
  for (const auto& message : schedule.stages[0].messages) {
    EXPECT_EQ(message.from % ppn, message.to % ppn) << "the partner has the same local rank";
    EXPECT_EQ(message.blocks, static_cast<unsigned>(ppn)) << "for every rank of the node";
  }
  EXPECT_EQ(schedule.stages[1].messages.size(), static_cast<std::size_t>(nodes * ppn * (ppn - 1)));
  for (const auto& message : schedule.stages[1].messages) {
    EXPECT_EQ(message.from / ppn, message.to / ppn);
    EXPECT_EQ(message.blocks, static_cast<unsigned>(nodes)) << "on-node blocks wait for the last stage";
  }
}

TEST(LocalThenNode, GathersByLocalRankFirst) {
  constexpr int nodes = 4, ppn = 3;
  const auto schedule = schedule_of("local-then-node", Layout::regular(nodes, 1, ppn), alltoall(nodes * ppn, 10));
  ASSERT_EQ(schedule.stages.size(), 2U);
  for (const auto& message : schedule.stages[0].messages) {
    EXPECT_EQ(message.from / ppn, message.to / ppn);
    EXPECT_EQ(message.blocks, static_cast<unsigned>(nodes));
  }
  // N − 1 inter-node rounds (TuNA paper, coalesced).
  EXPECT_EQ(schedule.stages[1].info.rounds, nodes - 1);
  for (const auto& message : schedule.stages[1].messages) {
    EXPECT_EQ(message.from % ppn, message.to % ppn);
    EXPECT_EQ(message.blocks, static_cast<unsigned>(ppn));
  }
}

TEST(UnevenNodes, ARankOnASmallNodeStandsInForTheMissing) {
  // Nodes of 3 and 1 ranks: rank 3 is local 0, 1 and 2 of node 1.
  const Layout layout(std::vector{0, 0, 0, 1});
  const auto schedule = schedule_of("two-step", layout, alltoall(4, 1));
  std::set<std::pair<Rank, Rank>> node_stage;
  for (const auto& message : schedule.stages[0].messages) node_stage.insert({message.from, message.to});
  // Everybody of node 0 has something for rank 3. Rank 3 has one block for each of node 0, sent to its local partner 0.
  EXPECT_EQ(node_stage, (std::set<std::pair<Rank, Rank>>{{0, 3}, {1, 3}, {2, 3}, {3, 0}}));
}

}  // namespace
}  // namespace commpass
