// The papers' numbers for the routes that exist.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "model/pattern/node_traffic.hpp"
#include "model/route/distance_route.hpp"
#include "model/route/relay_route.hpp"
#include "model/route/routes/stfw.hpp"
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

const Bounds stfw_bounds[] = {{64, {{2, 14}, {3, 9}, {4, 8}, {5, 7}, {6, 6}}},
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
      EXPECT_EQ(messages_sent(schedule), std::vector(static_cast<std::size_t>(ranks), bound))
          << ranks << " ranks, n=" << n;
      EXPECT_LE(schedule.buffered_blocks_max, ranks - 1) << ranks << " ranks, n=" << n;
    }
  }
}

TEST(Stfw, MovesThePapersVolumeInAnAllToAll) {
  constexpr int ranks = 256;
  const auto pattern = alltoall(ranks, 1);
  const double direct = ranks * (ranks - 1.0);
  for (const auto& [n, paper] : std::map<int, double>{{2, 1.88}, {4, 3.01}, {8, 4.02}}) {
    const auto moved =
        static_cast<double>(volume(schedule_of("stfw,n=" + std::to_string(n), one_rank_a_node(ranks), pattern)));
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
      // As near to the n-th root as it goes: no size is above its rounded-up root for n sizes, nor a power of two twice
      // it.
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
      const auto schedule =
          schedule_of("tuna,radix=" + std::to_string(radix), one_rank_a_node(ranks), alltoall(ranks, 1));
      EXPECT_EQ(messages_sent(schedule), std::vector(static_cast<std::size_t>(ranks), tuna_rounds(ranks, radix)))
          << ranks << " ranks, radix " << radix;
      EXPECT_LE(schedule.buffered_blocks_max, tuna_buffer_blocks(ranks, radix)) << ranks << " ranks, radix " << radix;
    }
}

TEST(Tuna, NeedsNoBufferFromRadixPMinus1) {
  for (const int ranks : {3, 4, 8, 13, 29})
    for (const int radix : {ranks - 1, ranks}) {
      EXPECT_EQ(tuna_buffer_blocks(ranks, radix), 0);
      EXPECT_EQ(schedule_of("tuna,radix=" + std::to_string(radix), one_rank_a_node(ranks), alltoall(ranks, 5))
                    .buffered_blocks_max,
                0);
    }
}

/// Sender, receiver, round and size of all messages, in one set.
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
  for (const auto& message : schedule.stages[0].messages)
    EXPECT_EQ(message.packed_pieces + message.unpacked_pieces, 0U);
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

/// Sender, receiver and bytes of all messages of a stage.
std::multiset<std::tuple<Rank, Rank, Bytes>> messages_of(const Stage& stage) {
  std::multiset<std::tuple<Rank, Rank, Bytes>> result;
  for (const auto& message : stage.messages) result.insert({message.from, message.to, message.bytes});
  return result;
}
using Messages = std::multiset<std::tuple<Rank, Rank, Bytes>>;

TEST(Staggered, GivesEveryBlockARoundOfItsOwn) {
  // Up to 2 blocks a message, so each of the 2 rounds becomes 2.
  const Pattern pattern{3, {{0, 1, 10}, {0, 1, 20}, {0, 2, 5}}};
  const auto schedule = schedule_of("standard,window=1,staggered", one_rank_a_node(3), pattern);
  ASSERT_EQ(schedule.stages.size(), 1U);
  EXPECT_EQ(schedule.stages[0].info.rounds, 4);
  std::vector<std::tuple<Rank, int, int, Bytes>> sent;
  for (const auto& message : schedule.stages[0].messages)
    sent.emplace_back(message.to, message.round, message.batch, message.bytes);
  EXPECT_EQ(sent, (std::vector<std::tuple<Rank, int, int, Bytes>>{{1, 1, 0, 10}, {1, 2, 1, 20}, {2, 3, 2, 5}}));
}

TEST(Staggered, SharesTheLastRoundWhereThereAreMoreThanNumbers) {
  constexpr int largest = std::numeric_limits<int>::max();
  EXPECT_EQ(staggered_round(3, 4, 7), 2 * 7 + 5);
  EXPECT_EQ(staggered_round(0, 4, 7), 0) << "no rounds";
  EXPECT_EQ(staggered_round(largest, 0, 1000), largest);
}

// The paper's figure 5: N=3 nodes of Q=5 ranks, radix 2.
TEST(TunaNode, HasThePapersSteps) {
  constexpr int nodes = 3, ppn = 5;
  const auto layout = Layout::regular(nodes, 1, ppn);
  const auto schedule = schedule_of("tuna-node,radix=2", layout, alltoall(nodes * ppn, 1));
  ASSERT_EQ(schedule.stages.size(), 4U);
  // Local distances 0 … 4 with the digit set: {1, 3}, {2, 3}, {4}; a block for every node.
  const std::vector<Bytes> local_blocks{2 * nodes, 2 * nodes, nodes};
  for (std::size_t x = 0; x < local_blocks.size(); ++x) {
    EXPECT_EQ(schedule.stages[x].messages.size(), static_cast<std::size_t>(nodes * ppn));
    for (const auto& message : schedule.stages[x].messages) {
      EXPECT_EQ(message.from / ppn, message.to / ppn);
      EXPECT_EQ((message.to - message.from + ppn) % ppn, 1 << x);
      EXPECT_EQ(message.bytes, local_blocks[x]);
    }
  }
  EXPECT_EQ(schedule.stages[3].info.rounds, nodes - 1);
  for (const auto& message : schedule.stages[3].messages) {
    EXPECT_EQ(message.from % ppn, message.to % ppn);
    EXPECT_EQ(message.blocks, static_cast<unsigned>(ppn));
  }
}

TEST(TunaNode, NeedsThePapersRoundsBetweenNodes) {
  for (const auto& [nodes, ppn] : {std::pair{2, 4}, {3, 5}, {5, 3}, {9, 8}}) {
    const auto layout = Layout::regular(nodes, 1, ppn);
    const auto pattern = alltoall(nodes * ppn, 1);
    const auto coalesced = schedule_of("tuna-node,radix=2", layout, pattern),
               staggered = schedule_of("tuna-node,radix=2,staggered", layout, pattern);
    EXPECT_EQ(coalesced.stages.back().info.rounds, nodes - 1);
    EXPECT_EQ(staggered.stages.back().info.rounds, (nodes - 1) * ppn);
    std::map<Rank, std::set<int>> rounds;
    for (const auto& message : staggered.stages.back().messages) {
      EXPECT_EQ(message.blocks, 1U);
      EXPECT_TRUE(rounds[message.from].insert(message.round).second) << "one message a round";
    }
    for (const auto& [rank, used] : rounds) EXPECT_EQ(std::ssize(used), (nodes - 1) * ppn);
    for (std::size_t s = 0; s + 1 < coalesced.stages.size(); ++s)
      EXPECT_EQ(messages_of(staggered.stages[s]), messages_of(coalesced.stages[s]))
          << "the same within nodes (algorithm 2, line 1)";
  }
}

TEST(TunaNode, RunsLocalRoundsOneAfterAnotherAndTheOthersInItsWindow) {
  const auto schedule = schedule_of("tuna-node,radix=4,window=2", Layout::regular(6, 1, 4), alltoall(24, 1));
  ASSERT_EQ(schedule.stages.size(), 2U);
  for (const auto& message : schedule.stages[0].messages) EXPECT_EQ(message.batch, message.round - 1);
  for (const auto& message : schedule.stages[1].messages) EXPECT_EQ(message.batch, (message.round - 1) / 2);
}

TEST(TunaNode, SendsToRanksThatItsNodeDoesNotHave) {
  // Nodes of 3 and 1 ranks: rank 3 sends to locals 0, 1 and 2 of node 0 itself; all for rank 3 is gathered on local 0.
  const auto schedule = schedule_of("tuna-node,radix=2", Layout(std::vector{0, 0, 0, 1}), alltoall(4, 1));
  ASSERT_EQ(schedule.stages.size(), 3U);
  EXPECT_EQ(messages_of(schedule.stages[2]), (Messages{{0, 3, 3}, {3, 0, 1}, {3, 1, 1}, {3, 2, 1}}));
}

// N nodes of Q ranks with L leaders: a rank that leads no other sends one message, a leader one to every other leader
// and one to each that it leads.
TEST(MultiLeader, SendsAsManyMessagesAsItsLeadersNeed) {
  for (const auto& [nodes, ppn, leaders] : {std::tuple{4, 6, 1}, {3, 6, 2}, {3, 6, 3}, {2, 5, 2}, {5, 4, 4}}) {
    const int ranks = nodes * ppn;
    const auto schedule = schedule_of(fmt::format("multi-leader,leaders={}", leaders), Layout::regular(nodes, 1, ppn),
                                      alltoall(ranks, 1));
    std::size_t messages = 0;
    std::map<Rank, int> sent;
    for (const auto& stage : schedule.stages) {
      messages += stage.messages.size();
      for (const auto& message : stage.messages) ++sent[message.from];
    }
    const int all = nodes * leaders;
    EXPECT_EQ(messages, static_cast<std::size_t>(2 * (ranks - all) + all * (all - 1))) << nodes << " x " << ppn;
    EXPECT_EQ(std::ranges::count(sent, 1, &std::pair<const Rank, int>::second), ranks - all);
    EXPECT_LE(sent[0], all - 1 + (ppn + leaders - 1) / leaders - 1);
  }
}

// Nodes of 3 and 2 ranks, one leader each: ranks 0 and 3.
TEST(MultiLeader, GathersExchangesAndHandsOut) {
  const auto schedule = schedule_of("multi-leader,leaders=1", Layout(std::vector{0, 0, 0, 1, 1}), alltoall(5, 1));
  ASSERT_EQ(schedule.stages.size(), 3U);
  EXPECT_EQ(messages_of(schedule.stages[0]), (Messages{{1, 0, 4}, {2, 0, 4}, {4, 3, 4}}));
  EXPECT_EQ(messages_of(schedule.stages[1]), (Messages{{0, 3, 6}, {3, 0, 6}}));
  EXPECT_EQ(messages_of(schedule.stages[2]), (Messages{{0, 1, 4}, {0, 2, 4}, {3, 4, 4}}));
}

// Two nodes of four ranks with two leaders each: 0 and 2, 4 and 6. A leader sends the blocks of its two ranks for the
// four of the other node, then those that it received for the other leader's two.
TEST(MultiLeader, NodeAwareSendsOneMessageToEachNode) {
  const auto schedule = schedule_of("multi-leader,leaders=2,node-aware", Layout::regular(2, 1, 4), alltoall(8, 1));
  ASSERT_EQ(schedule.stages.size(), 4U);
  EXPECT_EQ(messages_of(schedule.stages[0]), (Messages{{1, 0, 7}, {3, 2, 7}, {5, 4, 7}, {7, 6, 7}}));
  EXPECT_EQ(messages_of(schedule.stages[1]), (Messages{{0, 4, 8}, {2, 6, 8}, {4, 0, 8}, {6, 2, 8}}));
  // For two ranks: from two ranks of the other node, and from two of its own.
  EXPECT_EQ(messages_of(schedule.stages[2]), (Messages{{0, 2, 8}, {2, 0, 8}, {4, 6, 8}, {6, 4, 8}}));
  EXPECT_EQ(messages_of(schedule.stages[3]), (Messages{{0, 1, 7}, {2, 3, 7}, {4, 5, 7}, {6, 7, 7}}));
}

TEST(MultiLeader, NodeAwareWhoseRanksAllLeadIsTwoStep) {
  const auto layout = Layout::regular(3, 1, 4);
  const auto leaders = schedule_of("multi-leader,leaders=4,node-aware", layout, alltoall(12, 8)),
             two_step = schedule_of("two-step", layout, alltoall(12, 8));
  ASSERT_EQ(leaders.stages.size(), 2U);
  for (std::size_t s = 0; s < 2; ++s) EXPECT_EQ(messages_of(leaders.stages[s]), messages_of(two_step.stages[s])) << s;
}

// Three nodes of four ranks, the outer digit first: to the rank of the same place on the other nodes, then within.
TEST(Stfw, OuterFirstGoesBetweenNodesFirst) {
  const auto layout = Layout::regular(3, 1, 4);
  const auto outer = schedule_of("stfw,dims=4x3,outer-first", layout, alltoall(12, 8)),
             two_step = schedule_of("two-step", layout, alltoall(12, 8));
  ASSERT_EQ(outer.stages.size(), 2U);
  for (std::size_t s = 0; s < 2; ++s) EXPECT_EQ(messages_of(outer.stages[s]), messages_of(two_step.stages[s])) << s;
}

TEST(MultiLeader, WhoseRanksAllLeadIsStandard) {
  const auto layout = Layout::regular(3, 1, 4);
  const auto leaders = schedule_of("multi-leader,leaders=4", layout, alltoall(12, 8)),
             standard = schedule_of("standard", layout, alltoall(12, 8));
  ASSERT_EQ(leaders.stages.size(), 1U);
  EXPECT_EQ(messages_of(leaders.stages[0]), messages_of(standard.stages[0]));
}

// Two nodes of three ranks. By distance, 1 would send to 2, 3, 4, 5, 0.
TEST(FarFirst, MessagesToOtherNodesAreSentBeforeThoseToItsOwn) {
  const auto order_of = [](const std::string& strategy, const Layout& layout) {
    const auto schedule = schedule_of(strategy, layout, alltoall(layout.ranks(), 1));
    std::vector<Rank> order;
    for (const auto& message : schedule.stages[0].messages)
      if (message.from == 1) order.push_back(message.to);
    return order;
  };
  const auto layout = Layout::regular(2, 1, 3);
  EXPECT_EQ(order_of("standard", layout), (std::vector<Rank>{4, 5, 3, 2, 0}));
  EXPECT_EQ(order_of("standard,staggered", layout), (std::vector<Rank>{4, 5, 3, 2, 0}));
  EXPECT_EQ(order_of("standard", Layout::regular(1, 2, 3)), (std::vector<Rank>{2, 3, 4, 5, 0})) << "none is far";
}

TEST(FarFirst, NoTwoRanksSendToOneAtTheSameTurnOfAnAllToAll) {
  for (const auto& layout : {Layout::regular(4, 1, 4), Layout::regular(3, 2, 3), Layout::regular(1, 1, 5)}) {
    const auto schedule = schedule_of("standard", layout, alltoall(layout.ranks(), 1));
    std::map<Rank, std::size_t> sent;
    std::set<std::pair<std::size_t, Rank>> turns;
    for (const auto& message : schedule.stages[0].messages)
      EXPECT_TRUE(turns.insert({sent[message.from]++, message.to}).second) << message.from << " to " << message.to;
  }
}

TEST(FarFirst, IsNotForTheBatchesOfAWindow) {
  const auto layout = Layout::regular(2, 1, 3);
  const auto schedule = schedule_of("standard,window=2", layout, alltoall(6, 1));
  std::vector<std::pair<int, Rank>> order;
  for (const auto& message : schedule.stages[0].messages)
    if (message.from == 1) order.emplace_back(message.batch, message.to);
  EXPECT_EQ(order, (std::vector<std::pair<int, Rank>>{{0, 2}, {0, 3}, {1, 4}, {1, 5}, {2, 0}}));
}

// Alike to a factor of two from 8 KiB on; those of a class, and all smaller ones, far first. What one rank knows of its
// own blocks tells it the same order.
TEST(LargeFirst, MessagesLeaveBySizeAndThenInTheirTurns) {
  const auto layout = Layout::regular(2, 1, 3);
  const Pattern pattern{
      6, {{1, 0, 20000}, {1, 2, 10}, {1, 3, 8000}, {1, 4, 8192}, {1, 5, 30000}, {0, 1, 5}, {0, 2, 9000}}};
  const auto order_of = [](const std::vector<Message>& messages, Rank sender) {
    std::vector<Rank> order;
    for (const auto& message : messages)
      if (message.from == sender) order.push_back(message.to);
    return order;
  };
  const auto order = [&](const std::string& strategy, Rank sender) {
    return order_of(schedule_of(strategy, layout, pattern).stages[0].messages, sender);
  };
  EXPECT_EQ(order("standard", 1), (std::vector<Rank>{4, 5, 3, 2, 0}));
  EXPECT_EQ(order("standard,large-first", 1), (std::vector<Rank>{5, 0, 4, 3, 2}));
  EXPECT_EQ(order("standard,large-first", 0), (std::vector<Rank>{2, 1}));

  const auto route = make_route(parse_strategy("standard,large-first"), layout);
  std::vector<Block> held;
  for (const auto& block : blocks_of(pattern))
    if (block.source == 1) held.push_back(block);
  const auto departures = depart_from(1, *route, 0, {}, held);
  EXPECT_EQ(order_of(departures.messages, 1), (std::vector<Rank>{5, 0, 4, 3, 2}));
  for (const auto& message : departures.messages)
    EXPECT_EQ(held[departures.order[message.first_block]].destination, message.to);
  auto schedule = make_schedule(*route, {2}, pattern);
  EXPECT_EQ(order_of(schedule.stages[0].messages, 1), (std::vector<Rank>{2, 3, 4, 5, 0})) << "not in batches";
  set_window(*route, schedule, {});
  EXPECT_EQ(order_of(schedule.stages[0].messages, 1), (std::vector<Rank>{5, 0, 4, 3, 2}));
}

TEST(NodeTraffic, SumsWhatRanksSendToOtherNodes) {
  const auto layout = Layout::regular(3, 1, 2);
  const Pattern pattern{6, {{0, 4, 5}, {0, 2, 10}, {0, 3, 1}, {0, 1, 7}, {1, 1, 9}, {5, 0, 0}, {5, 1, 2}}};
  EXPECT_EQ(node_traffic(pattern, layout).entries, (std::vector<NodeTraffic::Entry>{{0, 1, 11}, {0, 2, 5}, {5, 0, 2}}));
  test::expect_sentence(test::error_of([&] { node_traffic({4, {}}, layout); }), {"6 ranks", "has 4"});
}

// Nodes {0, 1}, {2, 3}, {4, 5}. Node 0 sends 50 bytes to node 2 and 30 to node 1: by its ranks 1 and 0. Node 2 receives
// 50 from node 0 and 7 from node 1: by its ranks 4 and 5.
TEST(ThreeStep, ServesNodesInDescendingOrderOfVolume) {
  const Pattern pattern{6, {{0, 2, 10}, {1, 3, 20}, {0, 5, 50}, {2, 4, 7}, {4, 0, 5}, {0, 1, 3}}};
  const auto schedule = schedule_of("three-step", Layout::regular(3, 1, 2), pattern);
  ASSERT_EQ(schedule.stages.size(), 3U);
  EXPECT_EQ(messages_of(schedule.stages[0]), (Messages{{0, 1, 50}, {1, 0, 20}, {2, 3, 7}, {4, 5, 5}}));
  EXPECT_EQ(messages_of(schedule.stages[1]), (Messages{{1, 4, 50}, {0, 2, 30}, {3, 5, 7}, {5, 0, 5}}));
  EXPECT_EQ(messages_of(schedule.stages[2]), (Messages{{4, 5, 50}, {2, 3, 20}, {5, 4, 7}, {0, 1, 3}}));
}

TEST(ThreeStep, SendsOneMessageBetweenTwoNodes) {
  constexpr int nodes = 5, ppn = 3;
  const auto schedule = schedule_of("three-step", Layout::regular(nodes, 1, ppn), alltoall(nodes * ppn, 10));
  EXPECT_EQ(schedule.stages[1].messages.size(), static_cast<std::size_t>(nodes * (nodes - 1)));
  for (const auto& message : schedule.stages[1].messages) EXPECT_EQ(message.bytes, ppn * ppn * 10);
}

TEST(ThreeStep, OfOneNodeIsStandard) {
  const auto schedule = schedule_of("three-step", Layout::regular(1, 1, 4), alltoall(4, 10));
  ASSERT_EQ(schedule.stages.size(), 3U);
  EXPECT_TRUE(schedule.stages[0].messages.empty());
  EXPECT_TRUE(schedule.stages[1].messages.empty());
  EXPECT_EQ(schedule.stages[2].messages.size(), 12U);
}

// The paper's figure 2.7 has 2 nodes of 4 ranks and a cap of 3. Here node 0 sends 10 bytes: chunks of 3, 3, 3 and 1, by
// its ranks 3, 2, 1 and 0 to ranks 4, 5, 6 and 7. The 5 bytes from 0 to 4 and the 4 from 1 to 6 are cut.
TEST(Split, CutsAndSharesTheBytesBetweenTwoNodes) {
  const Pattern pattern{8, {{0, 4, 5}, {1, 6, 4}, {3, 7, 1}, {0, 2, 8}}};
  const auto schedule = schedule_of("split,cap=3", Layout::regular(2, 1, 4), pattern);
  ASSERT_EQ(schedule.stages.size(), 4U);
  EXPECT_EQ(messages_of(schedule.stages[0]), (Messages{{0, 2, 8}})) << "algorithm 2, line 1";
  EXPECT_EQ(messages_of(schedule.stages[1]), (Messages{{0, 3, 3}, {0, 2, 2}, {1, 2, 1}, {3, 0, 1}}));
  EXPECT_EQ(messages_of(schedule.stages[2]), (Messages{{3, 4, 3}, {2, 5, 3}, {1, 6, 3}, {0, 7, 1}}));
  EXPECT_EQ(messages_of(schedule.stages[3]), (Messages{{5, 4, 2}, {5, 6, 1}}));
}

/// The sizes of all chunks.
std::vector<Bytes> chunk_sizes(const std::string& strategy, const Layout& layout, const Pattern& pattern) {
  std::vector<Bytes> sizes;
  const auto route = make_route(parse_strategy(strategy), layout, pattern);
  for (const auto& chunk : dynamic_cast<const RelayRoute&>(*route).chunks()) sizes.push_back(chunk.bytes);
  return sizes;
}

TEST(Split, RaisesItsCapAsThePaperSays) {
  const auto two_nodes = Layout::regular(2, 1, 4), three_nodes = Layout::regular(3, 1, 2);
  const Pattern twenty{8, {{0, 4, 20}}};
  EXPECT_EQ(chunk_sizes("split,cap=21", two_nodes, twenty), (std::vector<Bytes>{20})) << "lines 12 and 13";
  EXPECT_EQ(chunk_sizes("split,cap=8", two_nodes, twenty), (std::vector<Bytes>{8, 8, 4})) << "line 17";
  EXPECT_EQ(chunk_sizes("split,cap=5", two_nodes, twenty), (std::vector<Bytes>{5, 5, 5, 5}));
  EXPECT_EQ(chunk_sizes("split,cap=3", two_nodes, twenty), (std::vector<Bytes>{5, 5, 5, 5})) << "line 16: 20/3 > 4";
  const Pattern from_each{6, {{0, 4, 4}, {2, 4, 3}}};
  EXPECT_EQ(chunk_sizes("split,cap=2", three_nodes, from_each), (std::vector<Bytes>{2, 2, 2, 1}))
      << "line 15: from as many nodes as it has ranks";
  EXPECT_EQ(chunk_sizes("three-step", three_nodes, from_each), (std::vector<Bytes>{4, 3}));
}

TEST(Split, MakesNoMoreChunksOfAPairThanItsNodesHaveRanks) {
  const Pattern pattern{6, {{0, 4, 601}, {2, 4, 3}}};
  EXPECT_EQ(chunk_sizes("split,cap=1", Layout::regular(3, 1, 2), pattern), (std::vector<Bytes>{301, 300, 2, 1}));
}

TEST(Split, NeverCutsAValueThatIsAdded) {
  const auto layout = Layout::regular(2, 1, 4);
  const Pattern values{8, {{0, 4, 24}, {1, 4, 32}}, 8};
  EXPECT_EQ(chunk_sizes("split,cap=15", layout, values), (std::vector<Bytes>{16, 16, 16, 8}));
  EXPECT_EQ(chunk_sizes("split,cap=16", layout, values), (std::vector<Bytes>{16, 16, 16, 8}));
  EXPECT_EQ(chunk_sizes("split,cap=17", layout, values), (std::vector<Bytes>{24, 24, 8}));
  const Pattern one_value{8, {{0, 4, 24}}, 24};
  EXPECT_EQ(chunk_sizes("split,cap=1", layout, one_value), (std::vector<Bytes>{24}));
}

/// Of each: pieces that the sender gathers, and that the receiver scatters or adds.
std::vector<std::pair<unsigned, unsigned>> pieces_of(const Stage& stage) {
  std::vector<std::pair<unsigned, unsigned>> pieces;
  for (const auto& message : stage.messages) pieces.emplace_back(message.packed_pieces, message.unpacked_pieces);
  return pieces;
}

// Rank 0 has the same bytes for ranks 1, 2 and 3; on the other node, 2 hands them on to 3. Rank 1 sends to 2 and 3
// alone.
TEST(TransposedSchedule, AddsWhereBytesHadParted) {
  Pattern pattern{4, {{0, 1, 10}, {0, 2, 10}, {0, 3, 10}, {1, 2, 7}, {1, 3, 5}}};
  for (auto& edge : std::span(pattern.edges).first(3)) edge.payload = 0;
  const auto there = schedule_of("two-step", Layout::regular(2, 1, 2), pattern), back = transposed(there);
  ASSERT_EQ(there.stages.size(), 2U);
  EXPECT_EQ(messages_of(there.stages[0]), (Messages{{0, 2, 10}, {1, 3, 12}}));
  EXPECT_EQ(messages_of(there.stages[1]), (Messages{{0, 1, 10}, {2, 3, 10}, {3, 2, 7}}));
  EXPECT_EQ(messages_of(back.stages[0]), (Messages{{1, 0, 10}, {2, 3, 7}, {3, 2, 10}}));
  EXPECT_EQ(messages_of(back.stages[1]), (Messages{{2, 0, 10}, {3, 1, 12}}));
  // One of the two messages to rank 0 is added; 2 and 3 gather their own values beside those that they hand on.
  using Pieces = std::vector<std::pair<unsigned, unsigned>>;
  EXPECT_EQ(pieces_of(back.stages[0]), (Pieces{{0, 1}, {0, 0}, {0, 0}}));
  EXPECT_EQ(pieces_of(back.stages[1]), (Pieces{{1, 0}, {1, 0}}));
  EXPECT_EQ(back.send_bytes, there.receive_bytes);
  EXPECT_EQ(back.receive_bytes, there.send_bytes);
}

TEST(TransposedSchedule, TakesBatchesInReverseOrder) {
  Pattern pattern{4, {}};
  for (Rank to = 1; to < 4; ++to) pattern.edges.push_back({0, to, to});
  const auto back = transposed(schedule_of("standard,window=1", Layout::with_ppn(4, 1), pattern));
  std::vector<std::tuple<Rank, int, int>> found;
  for (const auto& message : back.stages.front().messages)
    found.emplace_back(message.from, message.round, message.batch);
  EXPECT_EQ(found, (std::vector<std::tuple<Rank, int, int>>{{1, 1, 2}, {2, 2, 1}, {3, 3, 0}}));
}

TEST(Split, GivesEveryRankOfTheLargerNodeAChunk) {
  // Nodes of one and three ranks: 300 bytes either way are three chunks, which rank 0 sends, or receives, alone.
  const Layout layout(std::vector{0, 1, 1, 1});
  const auto from_small = schedule_of("split,cap=1", layout, {4, {{0, 2, 300}}}),
             to_small = schedule_of("split,cap=1", layout, {4, {{2, 0, 300}}});
  EXPECT_EQ(messages_of(from_small.stages[2]), (Messages{{0, 1, 100}, {0, 2, 100}, {0, 3, 100}}));
  EXPECT_EQ(messages_of(from_small.stages[3]), (Messages{{1, 2, 100}, {3, 2, 100}}));
  EXPECT_EQ(messages_of(to_small.stages[1]), (Messages{{2, 1, 100}, {2, 3, 100}}));
  EXPECT_EQ(messages_of(to_small.stages[2]), (Messages{{1, 0, 100}, {2, 0, 100}, {3, 0, 100}}));
  // The cap is raised by the ranks of the node that gets, and only while they are more than the nodes that send: 300
  // bytes of a node of three, from the node of one rank alone or from two nodes.
  const Layout three(std::vector{0, 1, 2, 2, 2});
  EXPECT_EQ(chunk_sizes("split,cap=40", three, {5, {{0, 2, 150}, {1, 3, 150}}}), (std::vector<Bytes>{100, 50, 100, 50}))
      << "300 bytes for three ranks";
  EXPECT_EQ(chunk_sizes("split,cap=60", three, {5, {{2, 0, 150}, {3, 1, 60}}}), (std::vector<Bytes>{60, 60, 30, 60}))
      << "one rank gets from one node";
}

TEST(RoutesWithRelays, AreForOnePattern) {
  const auto layout = Layout::regular(2, 1, 2);
  const Pattern pattern{4, {{0, 2, 10}}}, more{4, {{0, 2, 11}}}, other{4, {{1, 2, 10}}};
  for (const auto* strategy : {"three-step", "split,cap=4"}) {
    const auto route = make_route(parse_strategy(strategy), layout, pattern);
    EXPECT_NO_THROW(make_schedule(*route, {}, pattern));
    for (const auto& wrong : {more, other}) {
      const auto message = test::error_of([&] { make_schedule(*route, {}, wrong); });
      EXPECT_NE(message.find("made for a pattern"), std::string::npos) << message;
    }
    EXPECT_THROW(route->uniform_messages(0, 0), NotApplicable);
  }
}

TEST(UnevenNodes, ARankOnASmallNodeStandsInForTheMissing) {
  // Nodes of 3 and 1 ranks: rank 3 is local 0, 1 and 2 of node 1.
  const Layout layout(std::vector{0, 0, 0, 1});
  const auto schedule = schedule_of("two-step", layout, alltoall(4, 1));
  std::set<std::pair<Rank, Rank>> node_stage;
  for (const auto& message : schedule.stages[0].messages) node_stage.insert({message.from, message.to});
  // Each rank of node 0 has something for rank 3. Rank 3 has one block for each of node 0, sent to its local partner 0.
  EXPECT_EQ(node_stage, (std::set<std::pair<Rank, Rank>>{{0, 3}, {1, 3}, {2, 3}, {3, 0}}));
}

/// Every rank has the same bytes for all others.
Pattern allgather(int ranks, Bytes bytes) {
  auto pattern = alltoall(ranks, bytes);
  for (auto& edge : pattern.edges) edge.payload = 0;
  return pattern;
}

std::vector<Bytes> bytes_received(const Schedule& schedule) {
  std::vector<Bytes> received(static_cast<std::size_t>(schedule.ranks));
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) received[static_cast<std::size_t>(message.to)] += message.bytes;
  return received;
}

TEST(Allgather, ByStfwIsATreeThatDoublesWhatARankHas) {
  constexpr int k = 5;
  constexpr Bytes bytes = 24;
  const auto schedule = schedule_of("stfw,dims=5x5", one_rank_a_node(k * k), allgather(k * k, bytes));
  std::map<std::pair<std::size_t, Rank>, std::vector<Bytes>> sent;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s)
    for (const auto& message : schedule.stages[s].messages) sent[{s, message.from}].push_back(message.bytes);
  EXPECT_EQ(sent.size(), 2U * k * k);
  for (const auto& [of, sizes] : sent)
    EXPECT_EQ(sizes, std::vector<Bytes>(k - 1, of.first == 0 ? bytes : k * bytes))
        << "its own block, then those of its row";
}

// A full address brings every block to every rank once, and so do distances whatever the number of ranks (Bruck's
// algorithm).
TEST(Allgather, BringsEveryBlockToEveryRankOnce) {
  constexpr Bytes bytes = 7;
  const auto expect_once = [&](const std::string& strategy, const Layout& layout) {
    const auto once = std::vector<Bytes>(static_cast<std::size_t>(layout.ranks()), (layout.ranks() - 1) * bytes);
    EXPECT_EQ(bytes_received(schedule_of(strategy, layout, allgather(layout.ranks(), bytes))), once)
        << strategy << ", " << layout.describe();
  };
  for (const auto& [ranks, dims] : std::vector<std::pair<int, std::string>>{
           {12, "3x4"}, {12, "2x3x2"}, {27, "3x3x3"}, {32, "2x2x2x2x2"}, {64, "16x4"}})
    expect_once("stfw,dims=" + dims, one_rank_a_node(ranks));
  for (int ranks = 2; ranks <= 20; ++ranks)
    for (int radix = 2; radix <= ranks; ++radix)
      expect_once("tuna,radix=" + std::to_string(radix), one_rank_a_node(ranks));
  for (const auto* strategy : {"standard", "two-step", "local-then-node", "tuna-node,radix=2"})
    expect_once(strategy, Layout::regular(4, 1, 3));
}

TEST(Allgather, CrossesTheNetworkOnceForEachNode) {
  constexpr int nodes = 4, ppn = 6;
  constexpr Bytes bytes = 1000;
  const auto layout = Layout::regular(nodes, 1, ppn);
  for (const auto* strategy : {"two-step", "three-step", "split,cap=700", "local-then-node", "standard"}) {
    Bytes crossing = 0;
    for (const auto& stage : schedule_of(strategy, layout, allgather(nodes * ppn, bytes)).stages)
      for (const auto& message : stage.messages)
        if (layout.node(message.from) != layout.node(message.to)) crossing += message.bytes;
    const bool is_node_first = strategy != std::string("local-then-node") && strategy != std::string("standard");
    EXPECT_EQ(crossing, nodes * ppn * (nodes - 1) * (is_node_first ? 1 : ppn) * bytes) << strategy;
  }
}

TEST(Staggered, BlocksCarryTheirOwnBytes) {
  for (const std::string strategy : {"two-step", "stfw,dims=4x3"}) {
    const auto layout = Layout::regular(4, 1, 3);
    EXPECT_EQ(volume(schedule_of(strategy + ",staggered", layout, allgather(12, 5))),
              volume(schedule_of(strategy, layout, alltoall(12, 5))))
        << strategy;
  }
}

TEST(NodeTraffic, HasAPayloadOnceForEachNode) {
  const Pattern pattern{6,
                        {{0, 2, 8, 1}, {0, 3, 8, 1}, {0, 4, 8, 1}, {0, 2, 5, 0}, {0, 3, 8}, {0, 3, 8}, {1, 2, 9, 1}}};
  EXPECT_EQ(node_traffic(pattern, Layout::regular(3, 1, 2)).entries,
            (std::vector<NodeTraffic::Entry>{{0, 1, 8 + 5 + 8 + 8}, {0, 2, 8}, {1, 1, 9}}));
}

}  // namespace
}  // namespace commpass
