// Prices of small schedules, each computed by hand next to it.
#include "model/cost/cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/machine/stand_ins.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::no_limit;
using test::set_channel;

// Two nodes of two sockets of two ranks: 0 1 | 2 3 on node 0, 4 5 | 6 7 on node 1.
const Layout two_nodes = Layout::regular(2, 2, 2);

// Parameters that are easy to tell apart in a sum.
constexpr Seconds socket_short = 1, socket_eager = 2, node_short = 10, node_eager = 20, network_short = 100,
                  network_eager = 200;
constexpr double socket_beta = 0.001, node_beta = 0.01, network_beta = 0.1;
constexpr Bytes short_limit = 100;

/// Short messages of up to 100 bytes and eager ones; α_next is half of α.
Machine machine() {
  Machine m;
  m.name = "test";
  const auto channel = [](Seconds alpha_short, Seconds alpha_eager, double beta) {
    return Channel{{Protocol{"short", short_limit, alpha_short, beta, alpha_short / 2},
                    Protocol{"eager", no_limit, alpha_eager, 2 * beta, alpha_eager / 2}}};
  };
  set_channel(m, standard_level::socket, channel(socket_short, socket_eager, socket_beta));
  set_channel(m, standard_level::node, channel(node_short, node_eager, node_beta));
  set_channel(m, standard_level::network, channel(network_short, network_eager, network_beta));
  return m;
}

struct Sent {
  Rank from, to;
  Bytes bytes;
  int batch = 0;
};

/// A schedule of these messages, stage by stage; those of a stage sorted by sender.
Schedule schedule(int ranks, const std::vector<std::vector<Sent>>& stages) {
  Schedule result;
  result.ranks = ranks;
  result.self_bytes.resize(static_cast<std::size_t>(ranks));
  for (const auto& sent : stages) {
    auto& stage = result.stages.emplace_back();
    for (const auto& s : sent) {
      Message message;
      message.from = s.from;
      message.to = s.to;
      message.bytes = s.bytes;
      message.batch = s.batch;
      message.round = s.batch + 1;
      message.blocks = 1;
      stage.messages.push_back(message);
    }
  }
  return result;
}

Seconds price(const std::vector<std::vector<Sent>>& stages, const Machine& m, CostModel model,
              const Layout& layout = two_nodes) {
  return evaluate(schedule(layout.ranks(), stages), layout, m, model).seconds;
}

void expect_price(const std::vector<std::vector<Sent>>& stages, const Machine& m, CostModel model, Seconds expected,
                  const Layout& layout = two_nodes) {
  constexpr double rounding = 1e-12;
  EXPECT_NEAR(price(stages, m, model, layout), expected, rounding * expected) << name_of(model);
}

TEST(EveryModel, PricesALoneMessageWithAlphaAndBeta) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    expect_price({{{0, 1, 40}}}, machine(), model, socket_short + socket_beta * 40);
    expect_price({{{0, 2, 40}}}, machine(), model, node_short + node_beta * 40);
    expect_price({{{0, 4, 40}}}, machine(), model, network_short + network_beta * 40);
  }
}

TEST(EveryModel, TakesALimitOfAProtocolAsInclusive) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    expect_price({{{0, 4, short_limit}}}, machine(), model, network_short + network_beta * short_limit);
    expect_price({{{0, 4, short_limit + 1}}}, machine(), model, network_eager + 2 * network_beta * (short_limit + 1));
  }
}

TEST(EveryModel, CountsTheMessagesAndBytesOfTheBusiestSender) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    const auto cost = evaluate(schedule(8, {{{0, 1, 10}, {0, 4, 20}, {3, 1, 1000}}, {}}), two_nodes, machine(), model);
    ASSERT_EQ(cost.stages.size(), 2U);
    EXPECT_EQ(cost.stages[0].messages_max, 2);
    EXPECT_EQ(cost.stages[0].bytes_max, 1000);
    EXPECT_EQ(cost.stages[1].messages_max, 0);
    EXPECT_EQ(cost.stages[1].seconds, 0);
    EXPECT_DOUBLE_EQ(cost.stages[0].seconds, cost.seconds);
  }
}

TEST(EveryModel, PricesNothingWithZero) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    EXPECT_EQ(price({}, machine(), model), 0);
    EXPECT_EQ(price({{}, {}}, machine(), model), 0);
  }
}

TEST(EveryModel, ReadsAnAbsentLocalityAsTheNextSlower) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    Machine m = machine();
    m.host.by_level[standard_level::socket].reset();
    expect_price({{{0, 1, 40}}}, m, model, node_short + node_beta * 40);
    m.host.by_level[standard_level::node].reset();
    expect_price({{{0, 1, 40}}}, m, model, network_short + network_beta * 40);
    expect_price({{{0, 2, 40}}}, m, model, network_short + network_beta * 40);
  }
}

TEST(EveryModel, RefusesALayoutForWhichTheProfileHasNoParameters) {
  Machine no_network = machine();
  no_network.host.by_level[standard_level::network].reset();
  Machine socket_only = no_network;
  socket_only.host.by_level[standard_level::node].reset();
  const auto one_node = Layout::regular(1, 2, 2), one_socket = Layout::regular(1, 1, 4);
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    test::expect_sentence(test::error_of([&] { price({}, no_network, model); }),
                          {"profile test", "'network'", "2 nodes", "calibrate"});
    test::expect_sentence(test::error_of([&] { price({}, socket_only, model, one_node); }),
                          {"profile test", "'node'", "sockets"});
    EXPECT_EQ(price({}, no_network, model, one_node), 0);
    EXPECT_EQ(price({}, socket_only, model, one_socket), 0);
  }
  test::expect_sentence(test::error_of([&] { evaluate(schedule(5, {}), two_nodes, machine()); }),
                        {"layout", "8 ranks", "5"});
}

TEST(Postal, AddsTheMessagesOfARankAndTakesTheMostExpensiveRank) {
  const Seconds rank_0 =
      (socket_short + socket_beta * 100) + (node_eager + 2 * node_beta * 101) + (network_short + network_beta * 50);
  const Seconds rank_3 = network_eager + 2 * network_beta * 200;
  ASSERT_GT(rank_3, rank_0);
  expect_price({{{0, 1, 100}, {0, 2, 101}, {0, 4, 50}}}, machine(), CostModel::postal, rank_0);
  expect_price({{{0, 1, 100}, {0, 2, 101}, {0, 4, 50}, {3, 7, 200}}}, machine(), CostModel::postal, rank_3);
}

TEST(Postal, AddsTheStages) {
  // The busiest rank of stage 1 is rank 0, of stage 2 rank 5: bulk-synchronous.
  const Seconds first = network_short + network_beta * 10, second = node_short + node_beta * 10;
  expect_price({{{0, 4, 10}, {1, 0, 10}}, {{5, 6, 10}}}, machine(), CostModel::postal, first + second);
}

TEST(Postal, KnowsNothingOfSharingCopiesAndReceivers) {
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = m.levels[standard_level::node].down_rate_bytes_per_s =
      m.copy_rate_bytes_per_s = 1e-3;
  m.copy_block_s = 1000;
  for (auto& channel : m.host.by_level) {
    if (!channel) continue;
    channel->gamma_s = 1000;
    channel->aggregate_rate_bytes_per_s = 1e-3;
  }
  auto s = schedule(8, {{{0, 4, 10}, {1, 4, 10}, {2, 4, 10}}});
  s.stages[0].messages[0].packed_pieces = s.stages[0].messages[0].unpacked_pieces = 9;
  s.self_bytes[0] = 1000;
  EXPECT_DOUBLE_EQ(evaluate(s, two_nodes, m, CostModel::postal).seconds, network_short + network_beta * 10);
}

TEST(MaxRate, TakesWhatTheNodeInjectsIfThatTakesLonger) {
  // Ranks 0 and 2 inject 90 and 60 bytes; rank 0 sends 20 bytes on its socket besides.
  const std::vector<std::vector<Sent>> sent{{{0, 1, 20}, {0, 4, 90}, {2, 5, 60}}};
  const Seconds alphas = socket_short + network_short, transfer = socket_beta * 20 + network_beta * 90;
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = 5;
  expect_price(sent, m, CostModel::max_rate, alphas + 150.0 / 5);
  m.levels[standard_level::node].up_rate_bytes_per_s = 1000;
  ASSERT_LT(150.0 / 1000, transfer);
  expect_price(sent, m, CostModel::max_rate, alphas + transfer);
  expect_price(sent, m, CostModel::postal, alphas + transfer);
}

TEST(MaxRate, DoesNotChargeInjectionToRanksThatStayOnTheNode) {
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = 0.5;
  // Rank 2 sends nothing but on-node messages, but more of them than the injection of rank 0 takes.
  std::vector<Sent> sent{{0, 4, 10}};
  for (int i = 0; i < 12; ++i) sent.push_back({2, 0, 10});
  const Seconds rank_2 = 12 * (node_short + node_beta * 10);
  ASSERT_GT(rank_2, network_short + 10 / 0.5);
  expect_price({sent}, m, CostModel::max_rate, rank_2);
}

TEST(MaxRate, AddsUpEachNodeAlone) {
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = 2;
  expect_price({{{0, 4, 50}, {1, 5, 30}, {4, 0, 60}}}, m, CostModel::max_rate, network_short + (50 + 30) / 2.0);
  // Bytes of one stage do not burden another one.
  expect_price({{{0, 4, 50}}, {{1, 5, 30}}}, m, CostModel::max_rate,
               (network_short + 50 / 2.0) + (network_short + 30 / 2.0));
}

TEST(Burst, ChargesAlphaOnceAndAlphaNextForTheOthers) {
  // To three different ranks of the other node, one batch.
  expect_price({{{0, 4, 10}, {0, 5, 20}, {0, 6, 30}}}, machine(), CostModel::burst,
               network_short + 2 * network_short / 2 + network_beta * (10 + 20 + 30));
}

TEST(Burst, ChargesTheBytesOfTheOthersAtTheirOwnRateIfThatIsKnown) {
  Machine m = machine();
  m.host.by_level[standard_level::network]->protocols.front().beta_next_s_per_byte = 0.02;
  // The sender is done with the first after α_next + β_next·s; a message still takes α + β·s of its own.
  expect_price({{{0, 4, 10}, {0, 5, 20}, {0, 6, 30}}}, m, CostModel::burst,
               2 * network_short / 2 + 0.02 * (10 + 20) + network_short + network_beta * 30);
}

TEST(Burst, ChargesAReceiverAsMuchAsASender) {
  expect_price({{{0, 7, 20}, {1, 7, 20}, {2, 7, 20}}}, machine(), CostModel::burst,
               network_short + 2 * network_short / 2 + network_beta * 3 * 20);
}

TEST(Burst, ChargesWhatTakingInCostsTheReceiverIfThatIsKnown) {
  Machine m = machine();
  auto& short_protocol = m.host.by_level[standard_level::network]->protocols.front();
  short_protocol.alpha_receive_s = 7;
  short_protocol.beta_receive_s_per_byte = 0.5;
  // The first arrives after α + β·s; two more are taken in behind it.
  expect_price({{{0, 7, 20}, {1, 7, 20}, {2, 7, 20}}}, m, CostModel::burst,
               network_short + network_beta * 20 + 2 * (7 + 0.5 * 20));
  // The sender does not pay that.
  expect_price({{{0, 4, 20}, {0, 5, 20}}}, m, CostModel::burst,
               network_short + network_short / 2 + network_beta * 2 * 20);
}

TEST(Burst, TakesMessagesInWhenTheReceiversOwnHaveLeftIt) {
  Machine m = machine();
  auto& short_protocol = m.host.by_level[standard_level::network]->protocols.front();
  short_protocol.alpha_next_s = 60;
  short_protocol.alpha_receive_s = 30;
  short_protocol.beta_receive_s_per_byte = 0;
  short_protocol.beta_next_s_per_byte = 0;
  // Rank 4 sends three messages, which takes it 3·60, while rank 0's message has arrived; then it takes that in.
  expect_price({{{0, 4, 10}, {4, 0, 10}, {4, 1, 10}, {4, 2, 10}}}, m, CostModel::burst,
               std::max(2 * 60 + network_short + network_beta * 10, 3 * 60.0 + 30));
  short_protocol.alpha_receive_s = 70;
  expect_price({{{0, 4, 10}, {4, 0, 10}, {4, 1, 10}, {4, 2, 10}}}, m, CostModel::burst, 3 * 60.0 + 70);
}

TEST(Burst, SendsAndReceivesAtOnceWhereReceivingWasNotMeasured) {
  // Three messages out of rank 0 and three into it: the larger of the two counts.
  const Seconds three = network_short + 2 * network_short / 2 + network_beta * 3 * 20;
  expect_price({{{0, 4, 20}, {0, 5, 20}, {0, 6, 20}, {4, 0, 20}, {5, 0, 20}, {6, 0, 20}}}, machine(), CostModel::burst,
               three);
}

TEST(Burst, MakesASendWaitForItsReceiverOnlyIfItIsARendezvous) {
  Machine m = machine();
  auto& network = *m.host.by_level[standard_level::network];
  // Rank 4 is late by an on-node message from rank 6, for which it waits in batch 0. Rank 0 sends to it in batch 1.
  const std::vector<std::vector<Sent>> late{{{0, 4, 10, 1}, {6, 4, 50, 0}}};
  const Seconds receiver = node_short + node_beta * 50, alone = network_short + network_beta * 10;
  network.protocols.front().alpha_next_s = 1;      // less than the receiver is late
  expect_price(late, m, CostModel::burst, alone);  // not known: it travels at once
  network.rendezvous_from_bytes = 11;
  expect_price(late, m, CostModel::burst, alone);
  network.rendezvous_from_bytes = 10;
  expect_price(late, m, CostModel::burst, receiver + alone - 1);
}

TEST(Burst, LetsTheSenderOfAnEagerMessageGoOn) {
  Machine m = machine();
  auto& network = *m.host.by_level[standard_level::network];
  network.protocols.front().beta_next_s_per_byte = 0;
  // Two messages to different ranks, one batch each.
  const std::vector<std::vector<Sent>> two{{{0, 4, 10, 0}, {0, 5, 10, 1}}};
  const Seconds one = network_short + network_beta * 10;
  expect_price(two, m, CostModel::burst, 2 * one);
  network.rendezvous_from_bytes = 11;
  expect_price(two, m, CostModel::burst, network_short / 2 + one);
}

// Not known whether it is eager: a send ends when its message has arrived, not when its receiver has dealt with it.
TEST(Burst, LetsASenderGoOnBeforeItsReceiverHasTakenTheMessageIn) {
  Machine m = machine();
  auto& protocol = m.host.by_level[standard_level::network]->protocols.front();
  protocol.alpha_receive_s = 30;
  protocol.beta_receive_s_per_byte = 0;
  const Seconds one = network_short + network_beta * 10;
  expect_price({{{0, 4, 10, 0}, {0, 5, 10, 1}}}, m, CostModel::burst, (one - 30) + one);
  // Of two in a batch the later one counts.
  expect_price({{{0, 4, 10, 0}, {0, 5, 10, 0}, {0, 6, 10, 1}}}, m, CostModel::burst,
               (network_short / 2 + network_beta * 10 + one - 30) + one);
}

// Rank 0 sends 10 bytes to the next node and 100 KB to the one after it; without sharing, the large one then ends one
// launch later.
TEST(Burst, EndsEarlierWhereLargeMessagesLeaveFirst) {
  auto fast = machine();
  for (auto& protocol : fast.host.by_level[standard_level::network]->protocols) protocol.beta_next_s_per_byte = 0;
  const auto layout = Layout::with_ppn(3, 1);
  const Pattern pattern{3, {{0, 1, 10}, {0, 2, 100000}}};
  const auto price = [&](const std::string& strategy) {
    return evaluate(test::schedule_of(strategy, layout, pattern), layout, fast).seconds;
  };
  EXPECT_DOUBLE_EQ(price("standard"), network_short / 2 + network_eager + 100000 * 2 * network_beta);
  EXPECT_DOUBLE_EQ(price("standard,large-first"), network_eager + 100000 * 2 * network_beta);
}

TEST(Burst, SharesARateInEqualParts) {
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = 2;
  // Ranks 0 and 1 inject 20 and 60 bytes. Both get 1 byte/s until the first is done after 20 s (and not after 10), when
  // 40 bytes are left, which have 2 bytes/s. Rank 0 goes on to send to rank 2 on its node.
  const Seconds first = network_short + 20, both = network_short + 20 + 40 / 2.0;
  const Seconds next = node_short + node_beta * 90;
  ASSERT_LT(both, first + 2 * next);
  expect_price({{{0, 4, 20}, {1, 5, 60}}}, m, CostModel::burst, both);
  expect_price({{{0, 4, 20}, {1, 5, 60}}, {{0, 2, 90}}, {{2, 0, 90}}}, m, CostModel::burst,
               std::max(both, first + 2 * next));
}

TEST(Burst, ChargesTheQueueOfAReceiver) {
  Machine m = machine();
  m.host.by_level[standard_level::network]->gamma_s = 8;
  // m receives posted at once cost γ·m²/2.
  const Seconds messages = network_short + 2 * network_short / 2 + network_beta * 3 * 20;
  expect_price({{{0, 7, 20}, {1, 7, 20}, {2, 7, 20}}}, m, CostModel::burst, messages + 8 * 3.0 * 3.0 / 2);
  // Each of three receivers has one.
  expect_price({{{0, 4, 20}, {0, 5, 20}, {0, 6, 20}}}, m, CostModel::burst, messages + 8 * 1.0 / 2);
  // Queues of different levels do not add up before they are squared.
  m.host.by_level[standard_level::socket]->gamma_s = 2;
  const Seconds last_arrival = network_short + network_beta * 20;
  expect_price({{{0, 7, 20}, {6, 7, 20}}}, m, CostModel::burst, last_arrival + 8 * 1.0 / 2 + 2 * 1.0 / 2);
}

TEST(Burst, RunsBatchesOneAfterAnother) {
  const Seconds one = network_short + network_beta * 10;
  expect_price({{{0, 4, 10, 0}, {0, 5, 10, 1}, {0, 6, 10, 2}}}, machine(), CostModel::burst, 3 * one);
  expect_price({{{0, 4, 10, 0}, {0, 5, 10, 0}, {0, 6, 10, 1}}}, machine(), CostModel::burst,
               (one + network_short / 2 + network_beta * 10) + one);
}

TEST(Burst, SharesTheInjectionAndEjectionOfANode) {
  Machine m = machine();
  // Four ranks of node 0 send 50 bytes each to four ranks of node 1.
  const std::vector<std::vector<Sent>> pairs{{{0, 4, 50}, {1, 5, 50}, {2, 6, 50}, {3, 7, 50}}};
  const Seconds alone = network_short + network_beta * 50;
  expect_price(pairs, m, CostModel::burst, alone);
  m.levels[standard_level::node].up_rate_bytes_per_s = 10;
  expect_price(pairs, m, CostModel::burst, network_short + 4 * 50 / 10.0);
  expect_price({{{0, 4, 50}}}, m, CostModel::burst, alone);  // 50 / 10 is what β takes, too
  m.levels[standard_level::node].up_rate_bytes_per_s = 1000;
  expect_price(pairs, m, CostModel::burst, alone);
  m.levels[standard_level::node].down_rate_bytes_per_s = 8;
  expect_price(pairs, m, CostModel::burst, network_short + 4 * 50 / 8.0);
}

TEST(Burst, EjectsIntoTheReceivingNode) {
  // Three nodes of one rank: ranks 1 and 2 send to rank 0.
  const auto layout = Layout::regular(3, 1, 1);
  Machine m = machine();
  m.levels[standard_level::node].down_rate_bytes_per_s = 0.5;
  m.levels[standard_level::node].up_rate_bytes_per_s = 0.75;
  const Seconds ejected = 2 * 60 / 0.5, injected = 60 / 0.75;
  ASSERT_GT(ejected, injected);
  // Both arrive when all is ejected; then the receiver takes in the second one.
  const Seconds second = network_short / 2 + network_beta * 60;
  expect_price({{{1, 0, 60}, {2, 0, 60}}}, m, CostModel::burst, network_short + ejected + second, layout);
  m.levels[standard_level::node].down_rate_bytes_per_s = 1e9;
  expect_price({{{1, 0, 60}, {2, 0, 60}}}, m, CostModel::burst, network_short + injected + second, layout);
}

TEST(Burst, SharesARateWithinASocketAndWithinANode) {
  Machine m = machine();
  m.host.by_level[standard_level::socket]->aggregate_rate_bytes_per_s = 4;
  m.host.by_level[standard_level::node]->aggregate_rate_bytes_per_s = 2;
  // Both ways on one socket; another socket has a rate of its own.
  expect_price({{{0, 1, 40}, {1, 0, 40}}}, m, CostModel::burst, socket_short + 2 * 40 / 4.0);
  expect_price({{{0, 1, 40}, {2, 3, 40}}}, m, CostModel::burst, socket_short + 40 / 4.0);
  // Between the sockets of a node; another node has a rate of its own.
  expect_price({{{0, 2, 40}, {3, 1, 40}}}, m, CostModel::burst, node_short + 2 * 40 / 2.0);
  expect_price({{{0, 2, 40}, {4, 6, 40}}}, m, CostModel::burst, node_short + 40 / 2.0);
}

TEST(Burst, KeepsAServerBusyOverBatches) {
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = 1;
  // Rank 0 injects for 90 s. Rank 1 comes to its second batch earlier, after an on-socket message, and shares with the
  // rest of that. So the message of rank 0 is done last, when all has been injected.
  expect_price({{{0, 4, 90, 0}, {1, 0, 10, 0}, {1, 5, 50, 1}}}, m, CostModel::burst, network_short + 90 + 50);
}

TEST(Burst, LetsTheMessagesOfARankShareItsLinkWhileItsProcessorGoesOn) {
  Machine m = machine();
  auto& network = *m.host.by_level[standard_level::network];
  auto& protocol = network.protocols.front();
  protocol.alpha_next_s = 1;
  protocol.beta_next_s_per_byte = 0;
  protocol.alpha_receive_s = 2;
  protocol.beta_receive_s_per_byte = 0;
  network.link_rate_bytes_per_s = 1 / network_beta;
  // They are launched after 1, 2 and 3 s. Bytes move from 97 s after that on: the first has 1 s alone, the first two
  // share 1 s, and from 100 s on all three share, until the link has moved all.
  const std::vector<Sent> three{{0, 4, 60}, {0, 5, 60}, {0, 6, 60}};
  expect_price({three}, m, CostModel::burst, 98 + 3 * network_beta * 60 + 2);
  // Meanwhile rank 0 takes in what rank 4 sent it, which does not wait for the link.
  auto both = three;
  both.push_back({4, 0, 10});
  expect_price({both, {{0, 2, 10}}}, m, CostModel::burst, 98 + 3 * network_beta * 60 + node_short + node_beta * 10);
  // Where the rate of a link is not known, each moves as if it were alone.
  network.link_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  expect_price({three}, m, CostModel::burst, 100 + network_beta * 60 + 2);
}

TEST(Burst, MovesALoneMessageNoFasterThanItsLinkHoweverMuchAServerCouldDo) {
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = 20;  // two messages' worth
  // Both move at 10 bytes/s, the second one to its end, when it has the server for itself.
  expect_price({{{0, 4, 20}, {1, 5, 90}}}, m, CostModel::burst, network_short + network_beta * 90);
  // Of four each has 5 bytes/s for 4 s. Then the last is alone, and has 10.
  expect_price({{{0, 4, 20}, {1, 5, 20}, {2, 6, 20}, {3, 7, 90}}}, m, CostModel::burst, network_short + 4 + 70 / 10.0);
}

TEST(Burst, DoesWhatASlowProtocolTakesLongerWhileItsReceiverIsLate) {
  Machine m = machine();
  auto& network = *m.host.by_level[standard_level::network];
  network.rendezvous_from_bytes = 0;
  network.protocols.back().alpha_next_s = 1;
  // Rank 4 comes to its second batch when rank 6's message is there. Rank 0's has been copied by then: the rest is
  // its latency, and its bytes at the rate of the fastest protocol.
  const Seconds receiver = node_eager + 2 * node_beta * 4000;
  expect_price({{{0, 4, 400, 1}, {6, 4, 4000, 0}}}, m, CostModel::burst,
               receiver + network_eager - 1 + network_beta * 400);
}

TEST(Burst, SharesTheCoreAmongAllNodesAndABusAmongAllMessagesOfANode) {
  Machine m = machine();
  m.levels[standard_level::network].node_share_bytes_per_s = 1;  // of each of two nodes
  expect_price({{{0, 4, 60}, {4, 0, 60}}}, m, CostModel::burst, network_short + 2 * 60 / 2.0);
  expect_price({{{0, 4, 60}}}, m, CostModel::burst, network_short + 60 / 2.0);
  m = machine();
  m.levels[standard_level::node].inside_rate_bytes_per_s = 0.5;
  expect_price({{{0, 1, 40}, {1, 0, 40}, {2, 3, 40}, {4, 5, 40}}}, m, CostModel::burst, socket_short + 3 * 40 / 0.5);
  expect_price({{{0, 2, 40}, {3, 1, 40}}}, m, CostModel::burst, node_short + 2 * 40 / 0.5);
}

TEST(Burst, SharesTheLinksOfGroupsAmongMessagesThatLeaveAndEnterThem) {
  const auto layout = parse_layout("3x2x1x2");
  Machine m = machine();
  m.levels[standard_level::group].up_rate_bytes_per_s = m.levels[standard_level::group].down_rate_bytes_per_s = 1;
  const auto expect = [&](const std::vector<Sent>& sent, Seconds expected) {
    expect_price({sent}, m, CostModel::burst, expected, layout);
  };
  expect({{0, 4, 60}}, network_short + 60);
  expect({{0, 4, 60}, {2, 8, 60}}, network_short + 2 * 60);
  expect({{0, 8, 60}, {4, 10, 60}}, network_short + 2 * 60);
  expect({{0, 4, 60}, {4, 8, 60}}, network_short + 60);
  expect({{0, 2, 60}, {1, 3, 60}}, network_short + network_beta * 60);
  expect_price({{{0, 4, 60}, {2, 8, 60}}}, m, CostModel::burst, network_short + network_beta * 60, parse_layout("6x2"));
  m = machine();
  m.levels[standard_level::network].node_share_bytes_per_s =
      0.25;  // of each of six nodes: messages below one switch do not reach it
  expect({{0, 2, 60}}, network_short + network_beta * 60);
  expect({{0, 4, 60}}, network_short + 60 / 1.5);
}

TEST(Burst, TakesANetworksAggregateRateAsALimitOfInjection) {
  Machine m = machine();
  m.host.by_level[standard_level::network]->aggregate_rate_bytes_per_s = 5;
  m.levels[standard_level::node].up_rate_bytes_per_s = 1000;
  expect_price({{{0, 4, 50}, {1, 5, 50}}}, m, CostModel::burst, network_short + 2 * 50 / 5.0);
}

TEST(Burst, ChargesTheDatatypeWhereItIsCheaperAndMayBeUsed) {
  Machine m = machine();
  m.copy_rate_bytes_per_s = 20;
  m.copy_block_s = 0.25;
  m.datatype_rate_bytes_per_s = 40;
  m.datatype_block_s = 0.5;
  auto s = schedule(8, {{{0, 4, 80}}});
  auto& message = s.stages[0].messages[0];
  const Seconds moved = network_short + network_beta * 80;
  const auto copying = [&](Usage usage = Usage::planned) {
    return evaluate(s, two_nodes, m, CostModel::burst, usage).seconds - moved;
  };
  message.packed_pieces = 3;
  EXPECT_DOUBLE_EQ(copying(), 80 / 20.0 + 3 * 0.25) << "some of it is held for others";
  message.is_all_from_sender = true;
  EXPECT_DOUBLE_EQ(copying(), 80 / 40.0 + 3 * 0.5);
  EXPECT_DOUBLE_EQ(copying(Usage::once), 80 / 20.0 + 3 * 0.25) << "a datatype is made ahead";
  message.packed_pieces = 30;
  EXPECT_DOUBLE_EQ(copying(), 80 / 20.0 + 30 * 0.25) << "copies are cheaper";
  message.packed_pieces = 0;
  message.unpacked_pieces = 2;
  message.unpacked_bytes = 60;
  EXPECT_DOUBLE_EQ(copying(), 60 / 20.0 + 2 * 0.25);
  message.is_all_for_receiver = true;
  EXPECT_DOUBLE_EQ(copying(), 60 / 40.0 + 2 * 0.5);
}

TEST(Burst, ChargesWhatTheScheduleSaysIsCopied) {
  Machine m = machine();
  m.copy_rate_bytes_per_s = 20;
  m.copy_block_s = 0.25;
  auto s = schedule(8, {{{0, 4, 80}}});
  const Seconds message = network_short + network_beta * 80;
  EXPECT_DOUBLE_EQ(evaluate(s, two_nodes, m).seconds, message);
  s.stages[0].messages[0].packed_pieces = 3;
  const Seconds packing = 80 / 20.0 + 3 * 0.25;
  EXPECT_DOUBLE_EQ(evaluate(s, two_nodes, m).seconds, packing + message);
  s.stages[0].messages[0].unpacked_pieces = 2;
  s.stages[0].messages[0].unpacked_bytes = 60;
  const Seconds unpacking = 60 / 20.0 + 2 * 0.25;
  const auto cost = evaluate(s, two_nodes, m);
  EXPECT_DOUBLE_EQ(cost.seconds, packing + message + unpacking);
  EXPECT_DOUBLE_EQ(cost.stages[0].parts[static_cast<std::size_t>(CostPart::copying)], packing + unpacking);
}

TEST(Burst, CopiesWhatNoCacheHoldsAtTheRateOfMemoryUnlessACalibrationMeasuredCopies) {
  Machine m = machine();
  m.copy_rate_bytes_per_s = 1e10;
  const auto packing = [&](Bytes bytes) {
    auto s = schedule(8, {{{0, 4, bytes}}});
    s.stages[0].messages[0].packed_pieces = 1;
    return evaluate(s, two_nodes, m).stages[0].parts[static_cast<std::size_t>(CostPart::copying)];
  };
  const auto in_caches = [](Bytes bytes) { return static_cast<double>(bytes) / 1e10; };
  const auto in_memory = [](Bytes bytes) { return static_cast<double>(bytes) / typical_memory_copy_rate_bytes_per_s; };
  const Bytes half_way = cached_bytes_max * 3 / 2, large = cached_bytes_max * 5;
  EXPECT_DOUBLE_EQ(packing(cached_bytes_max), in_caches(cached_bytes_max));
  EXPECT_DOUBLE_EQ(packing(half_way), (in_caches(half_way) + in_memory(half_way)) / 2);
  EXPECT_DOUBLE_EQ(packing(large), in_memory(large));
  m.copy_rate_bytes_per_s = 1e9;
  EXPECT_DOUBLE_EQ(packing(large), static_cast<double>(large) / 1e9) << "slower than memory";
  m.copy_rate_bytes_per_s = 1e10;
  m.verdict = Verdict{};
  EXPECT_DOUBLE_EQ(packing(large), in_caches(large)) << "measured";
}

TEST(Burst, CopiesWhatARankSendsToItself) {
  Machine m = machine();
  m.copy_rate_bytes_per_s = 20;
  m.copy_block_s = 0.25;
  auto s = schedule(8, {});
  s.self_bytes[3] = 100;
  EXPECT_DOUBLE_EQ(evaluate(s, two_nodes, m).seconds, 100 / 20.0 + 0.25);
}

TEST(Burst, LetsARankGoOnThatNeedNotWait) {
  const Seconds slow = network_short + network_beta * 90, quick = node_short + node_beta * 10;
  // Ranks 1 and 3 have nothing to do with the first stage.
  expect_price({{{0, 4, 90}}, {{1, 3, 10}}}, machine(), CostModel::burst, slow);
  // But a rank that waits for a message that waits, waits.
  expect_price({{{4, 0, 90}}, {{0, 2, 10}}}, machine(), CostModel::burst, slow + quick);
  // The receiver of the second stage was late itself.
  expect_price({{{4, 0, 90}}, {{2, 0, 10}}}, machine(), CostModel::burst, slow + node_short / 2 + node_beta * 10);
}

TEST(Burst, CountsTheSecondsByWhichAStageMovesTheFinish) {
  const Seconds slow = network_short + network_beta * 90, quick = node_short + node_beta * 10;
  const auto hidden = evaluate(schedule(8, {{{0, 4, 90}}, {{1, 3, 10}}}), two_nodes, machine());
  EXPECT_DOUBLE_EQ(hidden.stages[0].seconds, slow);
  EXPECT_DOUBLE_EQ(hidden.stages[1].seconds, 0);
  const auto chained = evaluate(schedule(8, {{{4, 0, 90}}, {{0, 2, 10}}}), two_nodes, machine());
  EXPECT_DOUBLE_EQ(chained.stages[1].seconds, quick);
  EXPECT_EQ(chained.stages[1].dominant(), CostPart::latency);
}

TEST(Burst, CallsTakeTimeBeforeEveryBatch) {
  Machine m = machine();
  const auto two_batches = schedule(8, {{{0, 4, 10, 0}, {0, 5, 10, 1}}});
  const Seconds before = evaluate(two_batches, two_nodes, m).seconds;
  m.operations.batch_s = 3;
  m.operations.batch_once_s = 5;
  const auto planned = evaluate(two_batches, two_nodes, m);
  EXPECT_DOUBLE_EQ(planned.seconds, before + 2 * 3);
  EXPECT_DOUBLE_EQ(planned.stages[0].parts[static_cast<std::size_t>(CostPart::library)], 2 * 3);
  EXPECT_DOUBLE_EQ(evaluate(two_batches, two_nodes, m, CostModel::burst, Usage::once).seconds, before + 2 * 5);
  EXPECT_DOUBLE_EQ(evaluate(two_batches, two_nodes, m, CostModel::max_rate).seconds,
                   evaluate(two_batches, two_nodes, machine(), CostModel::max_rate).seconds)
      << "the papers' models know no calls";
}

TEST(Burst, RanksWaitForOneAnotherBetweenBatchesThatLeaveNodes) {
  Machine m = machine();
  const auto three_rounds = schedule(8, {{{0, 4, 10, 0}, {0, 5, 10, 1}, {0, 1, 10, 2}}, {{0, 4, 10, 0}}});
  const Seconds before = evaluate(three_rounds, two_nodes, m).seconds;
  m.operations.skew_s = 3;
  const auto cost = evaluate(three_rounds, two_nodes, m);
  const Seconds wait = 3 * std::sqrt(8);
  EXPECT_DOUBLE_EQ(cost.seconds, before + wait) << "neither in the first batch of a stage, nor in one within a node";
  EXPECT_DOUBLE_EQ(cost.stages[1].seconds, network_short + network_beta * 10);
  EXPECT_DOUBLE_EQ(evaluate(three_rounds, two_nodes, m, CostModel::max_rate).seconds,
                   evaluate(three_rounds, two_nodes, machine(), CostModel::max_rate).seconds)
      << "the papers' models know no waits";
}

TEST(Burst, PartsAddUpToALoneChain) {
  Machine m = machine();
  m.levels[standard_level::node].up_rate_bytes_per_s = 2;
  const auto cost = evaluate(schedule(8, {{{0, 4, 90}}}), two_nodes, m);
  const Seconds transfer = network_beta * 90, shared = 90 / 2.0;
  EXPECT_DOUBLE_EQ(cost.stages[0].parts[static_cast<std::size_t>(CostPart::latency)], network_short);
  EXPECT_DOUBLE_EQ(cost.stages[0].parts[static_cast<std::size_t>(CostPart::transfer)], transfer);
  EXPECT_DOUBLE_EQ(cost.stages[0].parts[static_cast<std::size_t>(CostPart::sharing)], shared - transfer);
  EXPECT_EQ(cost.stages[0].dominant(), CostPart::latency);
}

TEST(Burst, PartsAddUpWhereASendWaitsForItsReceiver) {
  Machine m = machine();
  auto& network = *m.host.by_level[standard_level::network];
  network.rendezvous_from_bytes = 10;
  network.protocols.front().alpha_next_s = 1;
  // Rank 4 waits for rank 6, and rank 0 for rank 4.
  const auto cost = evaluate(schedule(8, {{{0, 4, 10, 1}, {6, 4, 50, 0}}}), two_nodes, m);
  const auto& parts = cost.stages[0].parts;
  EXPECT_DOUBLE_EQ(parts[static_cast<std::size_t>(CostPart::latency)], node_short + network_short - 1);
  EXPECT_DOUBLE_EQ(parts[static_cast<std::size_t>(CostPart::transfer)], node_beta * 50 + network_beta * 10);
  EXPECT_DOUBLE_EQ(
      parts[static_cast<std::size_t>(CostPart::latency)] + parts[static_cast<std::size_t>(CostPart::transfer)],
      cost.seconds);
}

/// The messages of the stages, by the MPI library.
Seconds price_by_library(const std::vector<std::vector<Sent>>& stages, const Machine& m, CostModel model) {
  auto by_library = schedule(two_nodes.ranks(), stages);
  for (auto& stage : by_library.stages) stage.info.by_library = true;
  return evaluate(by_library, two_nodes, m, model).seconds;
}

TEST(Burst, AddsWhatTheLibrarysCollectiveTakesAtEachRank) {
  auto m = machine();
  m.operations.neighbor_alltoall_s = 1000;
  const std::vector<std::vector<Sent>> stages{{{0, 1, 50}, {0, 2, 50}, {0, 4, 50}, {2, 0, 50}}};
  const auto direct = price(stages, m, CostModel::burst);
  EXPECT_NEAR(price_by_library(stages, m, CostModel::burst), direct + 1000, 1e-9) << "for any number of messages";
  m.operations.neighbor_alltoall_message_s = 10000;
  EXPECT_NEAR(price_by_library(stages, m, CostModel::burst), direct + 1000 + 4 * 10000, 1e-9 * direct + 1e-6)
      << "rank 0 sends three and receives one";
  EXPECT_EQ(price_by_library({{}}, m, CostModel::burst), 1000) << "every rank makes the call";
}

TEST(Burst, LetsNoRankLeaveBeforeItEnteredHoweverFastTheLibraryIs) {
  auto m = machine();
  m.operations.neighbor_alltoall_s = -3;
  const std::vector<std::vector<Sent>> lone{{{0, 4, 50}}};
  EXPECT_NEAR(price_by_library(lone, m, CostModel::burst), price(lone, m, CostModel::burst) - 3, 1e-9);
  m.operations.neighbor_alltoall_s = -1e6;
  EXPECT_EQ(price_by_library(lone, m, CostModel::burst), 0);
}

TEST(Burst, RefusesToGuessWhatTheLibraryCosts) {
  test::expect_sentence(test::error_of([] {
                          price_by_library({{{0, 4, 50}}}, machine(), CostModel::burst);
                        }),
                        {"profile test", "operations.neighbor_alltoall_s", "calibrate"});
}

TEST(ThePapersModels, KnowNothingOfTheLibrarysCollective) {
  auto m = machine();
  const std::vector<std::vector<Sent>> lone{{{0, 4, 50}}};
  for (const auto model : {CostModel::postal, CostModel::max_rate})
    EXPECT_EQ(price_by_library(lone, m, model), price(lone, m, model));
}

TEST(CostModels, HaveNamesThatAreReadBack) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst})
    EXPECT_EQ(parse_cost_model(name_of(model)), model);
  test::expect_sentence(test::error_of([] { parse_cost_model("loggp"); }), {"loggp", "burst", "max-rate", "postal"});
}

}  // namespace
}  // namespace commpass
