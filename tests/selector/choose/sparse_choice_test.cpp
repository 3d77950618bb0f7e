// What sparse dynamic data exchanges are taken to cost, and which is chosen.
#include "selector/choose/sparse_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {
namespace {

/// Probes and puts were measured, and take nothing.
Machine cluster_with_operations() {
  auto machine = test::small_cluster();
  machine.operations.probe_s = machine.operations.put_s = 0;
  return machine;
}

Seconds price(const SparseChoice& choice, const SparseTraffic& statistics, const std::string& strategy) {
  for (const auto& candidate : choice.rank(statistics))
    if (to_string(candidate.strategy) == strategy) return candidate.seconds;
  ADD_FAILURE() << strategy << " is not considered";
  return 0;
}

/// Every rank sends `bytes` to all ranks of the next nodes.
Pattern to_next_nodes(const Layout& layout, int nodes, Bytes bytes) {
  Pattern pattern{layout.ranks(), {}};
  for (Rank source = 0; source < layout.ranks(); ++source)
    for (int i = 1; i <= nodes; ++i)
      for (const Rank destination : layout.ranks_of((layout.node(source) + i) % layout.nodes()))
        pattern.edges.push_back({source, destination, bytes});
  return pattern;
}

TEST(SparseTraffic, AreSumsAndMaximaOfWhatTheRanksSend) {
  const auto layout = Layout::with_ppn(6, 2);
  // 0 sends to both ranks of node 1, to its mate and to itself; 5 to 0, twice.
  const auto all =
      traffic_of(Pattern{6, {{0, 2, 10}, {0, 3, 20}, {0, 1, 5}, {0, 0, 99}, {5, 0, 7}, {5, 0, 8}}}, layout);
  EXPECT_EQ(all, (SparseTraffic{.messages = 5,
                                .bytes = 50,
                                .network_messages = 4,
                                .nodes_reached = 2,
                                .messages_max = 3,
                                .bytes_max = 35,
                                .network_messages_max = 2,
                                .nodes_reached_max = 1,
                                .received_messages_max = 2,
                                .received_bytes_max = 20,
                                .node_bytes_max = 30}));
}

TEST(SparseTraffic, OfAnAllToAllNeedsNoEdges) {
  for (const auto* text : {"1x1", "1x5", "5x1", "3x4", "2x2x3", "0,0,0,1,1,2", "0,1,1,1", "1,0,1,2,2,1,1"}) {
    const auto layout = parse_layout(text);
    EXPECT_EQ(traffic_of_alltoall(24, layout), traffic_of(test::alltoall(layout.ranks(), 24), layout)) << text;
  }
}

// Five nodes of four ranks, each with four messages to any of the 19 others: 4·16/19 = 3.4 to other nodes, of which
// three miss one of four with (3/4)³, so that they reach 4·(1 − 0.42) = 2.3.
TEST(SparseTraffic, OfRanksThatSendAnywhereAreExpected) {
  const SparseTraffic four{.messages = 80,
                           .bytes = 640,
                           .network_messages = 60,
                           .nodes_reached = 40,
                           .messages_max = 4,
                           .bytes_max = 32,
                           .network_messages_max = 3,
                           .nodes_reached_max = 2,
                           .received_messages_max = 4,
                           .received_bytes_max = 32};
  EXPECT_EQ(expected_traffic(4, 8, Layout::with_ppn(20, 4)), four);
  const auto all = expected_traffic(100, 2, Layout::with_ppn(20, 4));
  EXPECT_EQ(all.messages_max, 19) << "one for each other rank";
  EXPECT_EQ(all.network_messages_max, 16);
  EXPECT_EQ(all.nodes_reached_max, 4);
  EXPECT_EQ(all.bytes_max, 38);
  EXPECT_EQ(expected_traffic(3, 8, Layout::with_ppn(6, 6)).network_messages, 0);
  EXPECT_EQ(expected_traffic(3, 8, Layout::with_ppn(6, 6)).nodes_reached, 0);
  EXPECT_EQ(expected_traffic(1, 8, Layout::with_ppn(2, 1)).nodes_reached_max, 1);
  EXPECT_EQ(expected_traffic(-1, 8, Layout::with_ppn(20, 4)).messages, 0);
}

TEST(SparsePrices, AreSumsOfTheirStagesAndEqualForNamedStrategies) {
  for (const auto* text : {"1x1", "1x6", "3x4", "0,0,0,1,1,2"}) {
    const auto layout = parse_layout(text);
    const auto machine = cluster_with_operations();
    const auto traffic = traffic_of(test::alltoall(layout.ranks(), 24), layout);
    const SparseChoice all(layout, machine, true);
    for (const auto& [strategy, seconds, exceeds_limit] : all.rank(traffic)) {
      const SparseChoice one(layout, machine, std::vector{strategy});
      Seconds sum = 0;
      for (const auto& stage : one.stages(strategy, traffic)) sum += stage.seconds;
      EXPECT_DOUBLE_EQ(sum, seconds) << text << " " << to_string(strategy);
      const auto named = one.rank(traffic);
      ASSERT_EQ(named.size(), 1U);
      EXPECT_EQ(named.front().seconds, seconds) << text << " " << to_string(strategy);
      EXPECT_EQ(why_no_price(strategy, layout, machine, true), "");
    }
  }
}

TEST(SparsePrices, SayWhyThereIsNone) {
  const auto layout = Layout::with_ppn(6, 2);
  auto machine = cluster_with_operations();
  EXPECT_EQ(why_no_price(parse_sparse_strategy("direct+rma"), layout, machine, false),
            "rma needs messages of one size");
  machine.operations.put_s.reset();
  EXPECT_NE(why_no_price(parse_sparse_strategy("direct+rma"), layout, machine, true).find("operations.put_s"),
            std::string::npos);
  EXPECT_NE(why_no_price(parse_sparse_strategy("stfw,n=9+nbx"), layout, machine, true), "");
}

// Two ranks on two nodes, a message of 8 bytes each way. Its sender is busy for 1 us + 8·1 ns = 1.008 us, and it
// arrives after 2.008 us, its answer 2 us later. A reduction has one round of 2 us + 1 ns a byte.
TEST(SparsePrices, AreThoseCalculatedByHand) {
  const auto layout = Layout::with_ppn(2, 1);
  const SparseChoice choice(layout, cluster_with_operations(), true);
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  constexpr double tolerance_s = 1e-12;
  EXPECT_NEAR(price(choice, statistics, "direct+nbx"), 2.008e-6 + 2e-6 + 2.12e-6, tolerance_s)
      << "a tally has 15 numbers";
  EXPECT_NEAR(price(choice, statistics, "direct+reduce"), 1.008e-6 + 2.016e-6 + 8 / 1e10, tolerance_s)
      << "two numbers for the other rank, begun when the message has left, which shares the rate of its node with them";
  EXPECT_NEAR(price(choice, statistics, "direct+allreduce"), 1.008e-6 + 2.032e-6, tolerance_s)
      << "two numbers for each rank";
  EXPECT_NEAR(price(choice, statistics, "direct+rma"), 2.008e-6 + 2e-6 + 2.12e-6 + 2 * 16 / 1e10, tolerance_s)
      << "and a look at two slots of 16 bytes";
  // A size of 16 bytes leaves first, then the message with a header; it is copied in and out.
  EXPECT_NEAR(price(choice, statistics, "direct+dense"), 1.016e-6 + 2.024e-6 + 2 * (2e-8 + 8 / 1e10), tolerance_s);
}

TEST(SparsePrices, OfSynchronousSendsKnowNoShorterWay) {
  const auto layout = Layout::with_ppn(2, 1);
  auto machine = cluster_with_operations();
  machine.operations.new_send_bytes = 99;
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  EXPECT_NEAR(price(SparseChoice(layout, machine, true), statistics, "direct+nbx"), 2.1e-6 + 2e-6 + 2.12e-6, 1e-12);
  EXPECT_NEAR(price(SparseChoice(layout, machine, true), statistics, "direct+allreduce"), 1.008e-6 + 2.032e-6, 1e-12)
      << "those are not synchronous";
}

// Where a message waits for its receive, it begins when the size is known and both have been launched, after 2.04 us;
// then it takes the rest of 2.024 us after its launch of 1 us.
TEST(SparsePrices, CountAMessageAfterItsSizeIfItWaitsForItsReceive) {
  const auto layout = Layout::with_ppn(2, 1);
  auto waiting = cluster_with_operations();
  waiting.host.by_level[standard_level::network]->rendezvous_from_bytes = 24;  // with its header
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  EXPECT_NEAR(price(SparseChoice(layout, waiting, true), statistics, "direct+dense"),
              2.04e-6 + 1.024e-6 + 2 * (2e-8 + 8 / 1e10), 1e-12);
  waiting.operations.probe_s = 3e-7;
  EXPECT_NEAR(price(SparseChoice(layout, waiting, true), statistics, "direct+dense"),
              2.04e-6 + 1.024e-6 + 2 * 3e-7 + 2 * (2e-8 + 8 / 1e10), 1e-12)
      << "that the sizes and the message have come is seen half a look later each";
}

// It begins when it is found: launched after 1.008 us, found by a look of 0.6 us, there 1.008 us later.
TEST(SparsePrices, CountAMessageFromWhenItIsFoundIfItWaitsForItsReceive) {
  const auto layout = Layout::with_ppn(2, 1);
  auto waiting = cluster_with_operations();
  waiting.host.by_level[standard_level::network]->rendezvous_from_bytes = 0;
  waiting.operations.probe_s = 3e-7;
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  EXPECT_NEAR(price(SparseChoice(layout, waiting, true), statistics, "direct+nbx"),
              (1.008e-6 + 6e-7 + 1.008e-6) + 2e-6 + (2.12e-6 + 8e-7), 1e-12);
}

// 0.2 us is what one more message takes between ranks of a socket. A look takes twice as long as a message is found
// late on average, and a round of a reduction waits for 2/3 of the looks in a cycle: of two, for it and for mail, or of
// one.
TEST(SparsePrices, TakeAProbeThatWasNotMeasuredForAnEmptyMessageBetweenNeighbours) {
  const auto layout = Layout::with_ppn(2, 1);
  auto machine = cluster_with_operations();
  machine.operations.probe_s.reset();
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  const SparseChoice free(layout, cluster_with_operations(), true), choice(layout, machine, true);
  for (const auto& [strategy, probes] :
       std::map<std::string, double>{{"direct+nbx", 2 + 8.0 / 3}, {"direct+rma", 4.0 / 3}, {"direct+dense", 0}})
    EXPECT_NEAR(price(choice, statistics, strategy), price(free, statistics, strategy) + probes * 2e-7, 1e-12)
        << strategy;
  auto measured = machine;
  measured.operations.probe_s = 2e-7;
  for (const auto& candidate : choice.rank(statistics))
    EXPECT_EQ(candidate.seconds,
              price(SparseChoice(layout, measured, true), statistics, to_string(candidate.strategy)));
}

TEST(SparseChoice, OffersPutsOnlyWhereTheyHaveAPriceAndSlots) {
  const auto layout = Layout::with_ppn(4, 2);
  auto machine = cluster_with_operations();
  for (auto& channel : machine.host.by_level)
    if (channel) channel->protocols.front().alpha_receive_s = 1e-3;  // which a put does not pay
  const auto statistics = expected_traffic(1, 8, layout);
  const auto best = [&](bool has_slots) {
    return to_string(SparseChoice(layout, machine, true).best(statistics, has_slots).strategy);
  };
  EXPECT_EQ(best(true), "direct+rma");
  EXPECT_NE(best(false), "direct+rma");
  machine.operations.put_s.reset();
  EXPECT_NE(best(true), "direct+rma");
  EXPECT_NE(lacking(parse_sparse_strategy("direct+rma"), machine).find("has no operations.put_s"), std::string::npos);
  EXPECT_EQ(lacking(parse_sparse_strategy("direct+nbx"), machine), "");
}

// The same two ranks where a receiver has to look for a message, for 0.6 us, and for each round of a reduction:
// 2/3 of two looks more where it looks for mail in between, of one elsewhere.
TEST(SparsePrices, CountTheLooksThatFindMessages) {
  const auto layout = Layout::with_ppn(2, 1);
  auto machine = cluster_with_operations();
  machine.operations.probe_s = 3e-7;
  const SparseChoice choice(layout, machine, true);
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  constexpr double tolerance_s = 1e-12;
  EXPECT_NEAR(price(choice, statistics, "direct+nbx"), 2.008e-6 + 6e-7 + 2e-6 + (2.12e-6 + 8e-7), tolerance_s);
  EXPECT_NEAR(price(choice, statistics, "direct+reduce"), 1.008e-6 + 2.016e-6 + 8e-7 + 6e-7, tolerance_s)
      << "and a look when all are counted";
  EXPECT_NEAR(price(choice, statistics, "direct+allreduce"), 1.008e-6 + 2.032e-6 + 8e-7 + 6e-7, tolerance_s);
  EXPECT_NEAR(price(choice, statistics, "direct+rma"), 2.008e-6 + 2e-6 + (2.12e-6 + 4e-7) + 2 * 16 / 1e10, tolerance_s)
      << "no rank looks for a put";
  EXPECT_NEAR(price(choice, statistics, "direct+dense"), 1.016e-6 + 2.024e-6 + 2 * (2e-8 + 8 / 1e10), tolerance_s)
      << "all is expected";
}

TEST(SparsePrices, CountPutsWhereTheyTakeLongerThanMessages) {
  const auto layout = Layout::with_ppn(2, 1);
  auto machine = cluster_with_operations();
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  const auto rma = [&](Seconds put_s) {
    machine.operations.put_s = put_s;
    return price(SparseChoice(layout, machine, true), statistics, "direct+rma");
  };
  constexpr double tolerance_s = 1e-12;
  const Seconds after = 1e-6 + 2e-6 + 2.12e-6 + 2 * 16 / 1e10;  // on the way, an answer, the reduction, a look
  EXPECT_NEAR(rma(5e-6), 5e-6 + after, tolerance_s);
  EXPECT_NEAR(rma(5e-7), 1.008e-6 + after, tolerance_s);
  // Three messages to other nodes, each a put.
  const auto wide = Layout::with_ppn(4, 1);
  const auto three = traffic_of(test::alltoall(4, 8), wide);
  machine.operations.put_s = 5e-6;
  const auto slow = price(SparseChoice(wide, machine, true), three, "direct+rma");
  machine.operations.put_s = 6e-6;
  EXPECT_NEAR(price(SparseChoice(wide, machine, true), three, "direct+rma") - slow, 3e-6, tolerance_s);
}

// Of the microsecond that a message is on its way its receiver's processor takes 0.4 us.
TEST(SparsePrices, CountNoReceiversOfPuts) {
  const auto layout = Layout::with_ppn(2, 1);
  auto machine = cluster_with_operations();
  auto& protocol = machine.host.by_level[standard_level::network]->protocols.front();
  protocol.alpha_receive_s = 4e-7;
  protocol.beta_receive_s_per_byte = 0;
  const auto statistics = traffic_of(test::alltoall(2, 8), layout);
  constexpr double tolerance_s = 1e-12;
  EXPECT_NEAR(price(SparseChoice(layout, machine, true), statistics, "direct+rma"),
              1.008e-6 + (1e-6 - 4e-7) + 2e-6 + 2.12e-6 + 2 * 16 / 1e10, tolerance_s);
}

// Of 48 ranks one has all of its four blocks for one node, in a message that a slower protocol sends: too few for it to
// be likely, but known.
TEST(SparsePrices, CountTheLargestMessageToANode) {
  const auto layout = Layout::with_ppn(48, 8);
  auto machine = cluster_with_operations();
  auto& protocols = machine.host.by_level[standard_level::network]->protocols;
  protocols = {protocols.front(), protocols.front()};
  protocols[0].max_bytes = 1000;
  protocols[1].alpha_s += 1e-5;
  auto statistics = expected_traffic(4, 256, layout);
  const SparseChoice choice(layout, machine, false);
  const auto unknown = price(choice, statistics, "two-step+dense");
  statistics.node_bytes_max = 4 * 256;
  EXPECT_NEAR(price(choice, statistics, "two-step+dense") - unknown, 1e-5, 2e-6);
  statistics.node_bytes_max = 256;
  EXPECT_LE(price(choice, statistics, "two-step+dense"), unknown);
}

// Four ranks on two nodes, each with 8 bytes for the other node. A node lets out a byte in 1 us: 16 us for what its
// ranks send, and as long as that for each byte of both that a reduction moves.
TEST(SparsePrices, WaitForWhatANodeLetsOut) {
  const auto layout = Layout::with_ppn(4, 2);
  auto machine = cluster_with_operations();
  machine.levels[standard_level::node].up_rate_bytes_per_s = 1e6;
  const SparseChoice choice(layout, machine, true);
  const auto statistics = traffic_of(Pattern{4, {{0, 2, 8}, {1, 3, 8}, {2, 0, 8}, {3, 1, 8}}}, layout);
  constexpr double tolerance_s = 1e-12;
  const Seconds launched = 1.008e-6, injected = 16e-6, flight = 1e-6, answer = 2e-6;
  const auto reduced = [](double near_bytes, double far_bytes) {  // a round on the node and one between nodes
    return 4e-7 + near_bytes * 1e-10 + 2e-6 + 2 * far_bytes * 1e-6;
  };
  EXPECT_NEAR(price(choice, statistics, "direct+nbx"), injected + flight + answer + reduced(120, 120), tolerance_s);
  EXPECT_NEAR(price(choice, statistics, "direct+reduce"), launched + reduced(16, 32) + injected, tolerance_s)
      << "the numbers leave together with the messages";
  EXPECT_NEAR(price(choice, statistics, "direct+allreduce"), launched + reduced(64, 64), tolerance_s)
      << "the numbers leave last";
  EXPECT_NEAR(price(choice, statistics, "direct+rma"), injected + flight + answer + reduced(120, 120) + 4 * 16 / 1e10,
              tolerance_s);
  EXPECT_NEAR(price(choice, statistics, "direct+dense"), injected + flight + 2 * (2e-8 + 8 / 1e10), tolerance_s);
}

// All blocks of a rank are for other nodes, so all of them leave it, in whatever stage that is: 12 of 8 bytes and a
// header, of each of four ranks.
TEST(SparsePrices, CountAllThatLeavesANodeInTheStageThatLeavesIt) {
  const auto layout = Layout::regular(4, 2, 2);
  auto machine = cluster_with_operations();
  machine.levels[standard_level::node].up_rate_bytes_per_s = 1e6;
  const SparseChoice choice(layout, machine, true);
  const auto statistics = traffic_of(to_next_nodes(layout, 3, 8), layout);
  for (const std::string route : {"two-step", "two-step-socket", "stfw,n=3"}) {
    const auto seconds = price(choice, statistics, route + "+dense");
    EXPECT_GE(seconds, 4 * 12 * 24e-6) << route;
    EXPECT_LT(seconds, 1.1 * 4 * 12 * 24e-6) << route;
  }
}

// 64 ranks, one a node, four blocks each, in stages of four: a message of four blocks is rare, and some rank has one.
// Where it is of a protocol that takes 20 us more, every stage that has one does. Where each rank has one block, there
// is none.
TEST(SparsePrices, CountTheLargestOfTheMessagesThatBlocksAreDrawnInto) {
  const auto layout = Layout::with_ppn(64, 1);
  auto machine = cluster_with_operations();
  auto& protocols = machine.host.by_level[standard_level::network]->protocols;
  protocols = {protocols.front(), protocols.front()};
  const auto with_slow_from = [&](int blocks) {
    protocols.front().max_bytes = blocks * (100 + 16) - 1;
    protocols.back().max_bytes = test::no_limit;
    protocols.back().alpha_s = protocols.front().alpha_s + 20e-6;
    return SparseChoice(layout, machine, false);
  };
  const auto lateness = [&](int messages, int slow_blocks) {
    const auto traffic = traffic_of(to_next_nodes(layout, messages, 100), layout);
    return price(with_slow_from(slow_blocks), traffic, "stfw,n=3+dense") -
           price(with_slow_from(100), traffic, "stfw,n=3+dense");
  };
  EXPECT_NEAR(lateness(4, 3), 3 * 20e-6, 1e-6);
  EXPECT_NEAR(lateness(4, 9), 0, 1e-12);
  EXPECT_NEAR(lateness(1, 3), 0, 1e-12);
}

// Two nodes of 12 ranks, in stages of 5: of the first few ranks have a peer on the other node, and it is the second in
// which messages for it leave. A node lets out a byte in 1 us.
TEST(SparsePrices, CountBytesThatLeaveANodeByThePeersOfAllRanks) {
  const auto layout = Layout::with_ppn(24, 12);
  auto machine = cluster_with_operations();
  machine.levels[standard_level::node].up_rate_bytes_per_s = 1e6;
  const auto traffic = expected_traffic(12, 8, layout);
  const double once_s = static_cast<double>(traffic.network_messages) / 2 * (8 + 16) * 1e-6;
  EXPECT_NEAR(price(SparseChoice(layout, machine, true), traffic, "stfw,n=2+dense"), once_s, 0.2 * once_s);
}

// Four messages of every rank, to the four ranks of one node or to one of each of four: gathered, one message or four,
// of as many bytes in all.
TEST(SparsePrices, CountAMessageForEachNodeThatIsReached) {
  const auto layout = Layout::with_ppn(20, 4);
  auto machine = cluster_with_operations();
  machine.levels[standard_level::node].up_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  const SparseChoice choice(layout, machine, false);
  Pattern one_node{20, {}}, four_nodes{20, {}};
  for (Rank rank = 0; rank < 20; ++rank)
    for (int i = 0; i < 4; ++i) {
      one_node.edges.push_back({rank, (rank / 4 * 4 + 4 + i) % 20, 8});
      four_nodes.edges.push_back({rank, (rank + 4 * (i + 1)) % 20, 8});
    }
  const auto one = traffic_of(one_node, layout), four = traffic_of(four_nodes, layout);
  ASSERT_EQ(one.nodes_reached_max, 1);
  ASSERT_EQ(four.nodes_reached_max, 4);
  for (const std::string discovery : {"nbx", "reduce", "allreduce", "dense"}) {
    EXPECT_NEAR(price(choice, four, "two-step+" + discovery) - price(choice, one, "two-step+" + discovery), 3 * 1e-6,
                1e-12)
        << discovery << ": three more times α_next";
    EXPECT_EQ(price(choice, four, "direct+" + discovery), price(choice, one, "direct+" + discovery)) << discovery;
  }
}

// Nine nodes of five ranks and one of three, of which two stand in for those that are missing: each tells 18 ranks a
// size, the others 9.
TEST(SparsePrices, CountTheSizesOfRanksThatStandInForOthers) {
  const auto machine = cluster_with_operations();
  const SparseTraffic nothing{};
  const auto dense = [&](int ranks) {
    return price(SparseChoice(Layout::with_ppn(ranks, 5), machine, false), nothing, "two-step+dense");
  };
  const auto next = [&](Level level) { return machine.host.find(level)->protocol(16).next_seconds(16); };
  // Then two of the smaller node's ranks get a size from them, not four.
  EXPECT_GE(dense(48) - dense(50), (9 * next(standard_level::network) - 2 * next(standard_level::socket)) * 0.99);
}

// Three digits of three and one of two: in an address of 54 all ranks have two, two, two peers and one. Of 48, those
// that stand in have two, three, four and none; the others wait for what these tell, but have no more to do themselves.
TEST(SparsePrices, DoNotAddUpWhatDifferentRanksDo) {
  auto machine = cluster_with_operations();
  machine.host.by_level[standard_level::network]->rendezvous_from_bytes = 0;
  const auto dense = [&](int ranks) {
    const auto layout = Layout::with_ppn(ranks, 1);
    return price(SparseChoice(layout, machine, false), expected_traffic(4, 100, layout), "stfw,n=4+dense");
  };
  const auto next = machine.host.find(standard_level::network)->protocol(16).next_seconds(16);
  EXPECT_LT(dense(48) - dense(54), 3.5 * next);
}

// Eight ranks on nodes of three, three and two: the rounds are 0-1 2-3 4-5 6-7 and so on, of which 2-3 alone leaves its
// node in the first. The last rank to finish waited for these two at most once.
TEST(ReductionRounds, AreThoseOfTheLongestWay) {
  const auto layout = Layout::with_ppn(8, 3);
  std::vector<Rank> all(8);
  std::iota(all.begin(), all.end(), 0);
  // The slow check, by all paths: of each number, the time to have heard from all ranks by its own and its partners'.
  const ByLevel seconds{1, 2, 0, 10};
  const auto longest = [&](auto self, int rank, int rounds) -> double {
    if (rounds == 0) return 0;
    const int partner = rank ^ (1 << (rounds - 1));
    return std::max(self(self, rank, rounds - 1), self(self, partner, rounds - 1)) +
           seconds[static_cast<std::size_t>(layout.channel_level(rank, partner))];
  };
  double expected = 0;
  for (int rank = 0; rank < 8; ++rank) expected = std::max(expected, longest(longest, rank, 3));
  double sum = 0;
  for (const auto& round : reduction_rounds(all, layout, seconds)) sum += seconds[round.level];
  EXPECT_EQ(sum, expected);
}

// Seven ranks: 0-1, 2-3 and 4-5 fold first and unfold last, and 1, 3, 5, 6 go on.
TEST(ReductionRounds, OfRanksBeyondAPowerOfTwoAreTwoMore) {
  const auto one_node = Layout::with_ppn(7, 7), two_nodes = Layout::with_ppn(7, 6);
  std::vector<Rank> all(7);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(reduction_rounds(all, one_node, {1, 2, 0, 10}).size(), 4U);
  const auto rounds = reduction_rounds(all, two_nodes, {1, 2, 0, 10});
  // 6, on a node of its own, goes on with 5 and then with 3.
  EXPECT_EQ(std::ranges::count(rounds, standard_level::network, &ReductionRound::level), 2);
  EXPECT_EQ(rounds.front().scattered, 1);
  EXPECT_EQ(rounds.back().scattered, 1.0 / 7);
}

TEST(SparsePrices, AreZeroForASingleRank) {
  const auto layout = Layout::with_ppn(1, 1);
  for (const auto& candidate :
       SparseChoice(layout, cluster_with_operations(), true).rank(traffic_of(Pattern{1, {{0, 0, 100}}}, layout)))
    EXPECT_EQ(candidate.seconds, 0);
}

TEST(SparseChoice, GathersManyMessagesToFewNodes) {
  const auto layout = Layout::with_ppn(256, 32);
  const SparseChoice choice(layout, cluster_with_operations(), false);
  const auto statistics = traffic_of(to_next_nodes(layout, 2, 64), layout);
  EXPECT_FALSE(choice.best(statistics).strategy.is_direct());
  for (const std::string discovery : {"nbx", "reduce", "allreduce", "dense"})
    EXPECT_LT(price(choice, statistics, "two-step+" + discovery), price(choice, statistics, "direct+" + discovery))
        << discovery;
}

TEST(SparseChoice, SendsFewMessagesStraightIfTheReceiversProbe) {
  const auto layout = Layout::with_ppn(64, 32);
  const SparseChoice choice(layout, cluster_with_operations(), false);
  const auto statistics = traffic_of(generate_pattern("random:ranks=64,bytes=64,degree=1"), layout);
  EXPECT_LT(price(choice, statistics, "direct+nbx"), price(choice, statistics, "two-step+nbx"));
}

TEST(SparseChoice, DoesNotReduceTheNumbersOfVeryManyRanksForFewMessages) {
  const auto layout = Layout::with_ppn(4096, 32);
  const SparseChoice choice(layout, cluster_with_operations(), false);
  const auto statistics = expected_traffic(4, 64, layout);
  EXPECT_LT(price(choice, statistics, "direct+nbx"), price(choice, statistics, "direct+reduce"));
  const auto few = Layout::with_ppn(8, 4);
  EXPECT_LT(price(SparseChoice(few, cluster_with_operations(), false), expected_traffic(4, 64, few), "direct+reduce"),
            price(SparseChoice(few, cluster_with_operations(), false), expected_traffic(4, 64, few), "direct+nbx"));
}

TEST(SparseChoice, RanksAllSuggestionsTheSameEveryTime) {
  for (const auto& layout : {Layout::with_ppn(7, 3), Layout::regular(4, 2, 6), Layout::with_ppn(1, 1)})
    for (const bool constant : {false, true}) {
      const auto statistics = expected_traffic(3.5, 100, layout);
      auto machine = cluster_with_operations();
      machine.shared.by_level[standard_level::socket] = test::one_protocol(1e-7, 1e-10);
      const auto ranking = SparseChoice(layout, machine, constant).rank(statistics),
                 again = SparseChoice(layout, machine, constant).rank(statistics);
      ASSERT_EQ(ranking.size(), suggest_sparse_strategies(layout, constant).size());
      for (std::size_t i = 0; i < ranking.size(); ++i) {
        EXPECT_EQ(ranking[i].strategy, again[i].strategy);
        EXPECT_EQ(ranking[i].seconds, again[i].seconds);
        EXPECT_GE(ranking[i].seconds, i == 0 ? 0 : ranking[i - 1].seconds);
      }
    }
}

/// Of each rank to the next one.
SparseTraffic ring(const Layout& layout, Bytes bytes) {
  Pattern pattern{layout.ranks(), {}};
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    pattern.edges.push_back({rank, (rank + 1) % layout.ranks(), bytes});
  return traffic_of(pattern, layout);
}

TEST(SparseChoice, PricesMemoryOfANode) {
  const auto layout = Layout::with_ppn(4, 4);
  auto machine = cluster_with_operations();
  EXPECT_NE(why_no_price(parse_sparse_strategy("direct,shared+nbx"), layout, machine, false).find("levels.*.shared"),
            std::string::npos);
  machine.shared.by_level[standard_level::socket] = test::one_protocol(2, 0.001);
  EXPECT_EQ(why_no_price(parse_sparse_strategy("direct,shared+nbx"), layout, machine, false), "");
  const SparseChoice choice(layout, machine, false);
  const auto traffic = ring(layout, 1000);
  for (const char* discovery : {"nbx", "reduce", "allreduce"})
    EXPECT_DOUBLE_EQ(price(choice, traffic, std::string("direct,shared+") + discovery), (2 + 1) + 2 * 2)
        << "a message, and two peers that get none; no reduction";
}

TEST(SparseChoice, PricesMemoryOfNodesBesideMessagesBetweenThem) {
  const auto layout = Layout::with_ppn(8, 2);
  auto machine = cluster_with_operations();
  constexpr Seconds pushed_s = 1e-8;
  machine.shared.by_level[standard_level::socket] = test::one_protocol(pushed_s, 0);
  const SparseChoice choice(layout, machine, false);
  auto pattern = to_next_nodes(layout, 1, 100);
  const auto far = traffic_of(pattern, layout);
  for (Rank rank = 0; rank < layout.ranks(); ++rank) pattern.edges.push_back({rank, rank ^ 1, 100});
  const auto both = traffic_of(pattern, layout);
  for (const char* discovery : {"nbx", "reduce", "allreduce"}) {
    const std::string messages = std::string("direct+") + discovery, shared = std::string("direct,shared+") + discovery;
    EXPECT_NEAR(price(choice, far, shared), price(choice, far, messages) + pushed_s, 1e-15) << "the peer hears of none";
    EXPECT_LT(price(choice, both, shared), price(choice, both, messages)) << discovery;
  }
}

// Messages through memory of a node are expected.
TEST(SparseChoice, KeepsTheLimitOfUnexpectedMessagesOfMpi) {
  const auto layout = Layout::with_ppn(64, 64);
  auto machine = cluster_with_operations();
  machine.shared.by_level[standard_level::socket] = test::one_protocol(1, 0);
  machine.limits.unexpected_messages = 10;
  for (const auto& candidate : SparseChoice(layout, machine, false).rank(expected_traffic(40, 8, layout))) {
    const auto& strategy = candidate.strategy;
    if (!strategy.is_direct()) continue;
    EXPECT_EQ(candidate.exceeds_limit, !strategy.route.path.is_shared && strategy.discovery != Discovery::dense);
  }
}

TEST(SparseChoice, KeepsTheLimitOfUnexpectedMessages) {
  const auto layout = Layout::with_ppn(2048, 32);
  auto machine = cluster_with_operations();
  // Two-step exchanges are made expensive, so that their price alone would not choose them.
  machine.copy_block_s = 1e-3;
  const auto best = [&](double messages) {
    return SparseChoice(layout, machine, false).best(expected_traffic(messages, 8, layout)).strategy;
  };
  EXPECT_TRUE(best(900).is_direct());
  const auto beyond = best(1500);
  EXPECT_TRUE(!beyond.is_direct() || beyond.discovery == Discovery::dense) << to_string(beyond);
  machine.limits.unexpected_messages = 2000;
  EXPECT_TRUE(best(1500).is_direct() && best(1500).discovery != Discovery::dense);
  machine.limits.unexpected_messages.reset();
  for (const auto& candidate : SparseChoice(layout, machine, true).rank(expected_traffic(1500, 8, layout))) {
    const bool is_dense = candidate.strategy.discovery == Discovery::dense;
    if (candidate.strategy.is_direct()) {
      EXPECT_EQ(candidate.exceeds_limit, !is_dense) << to_string(candidate.strategy);
    }
    EXPECT_FALSE(is_dense && candidate.exceeds_limit) << to_string(candidate.strategy);
  }
}

TEST(SparseChoice, GrowsWithMessagesAndBytes) {
  const auto layout = Layout::regular(4, 2, 4);
  const SparseChoice choice(layout, cluster_with_operations(), true);
  for (const auto& candidate : choice.rank(expected_traffic(1, 8, layout))) {
    const auto name = to_string(candidate.strategy);
    EXPECT_LE(price(choice, expected_traffic(4, 8, layout), name), price(choice, expected_traffic(16, 8, layout), name))
        << name;
    EXPECT_LT(price(choice, expected_traffic(4, 8, layout), name),
              price(choice, expected_traffic(4, 8192, layout), name))
        << name;
  }
}

}  // namespace
}  // namespace commpass
