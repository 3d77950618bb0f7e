// The formulas of the node-aware paper, with parameters for which they can be worked out by hand.
#include "bench/node_aware_formulas.hpp"

#include <gtest/gtest.h>

#include "model/machine/profile.hpp"
#include "model/support.hpp"

namespace commpass::node_aware {
namespace {

using test::error_of;
using test::expect_sentence;

Channel line(Seconds alpha_s, double beta_s_per_byte) {
  Protocol protocol;
  protocol.alpha_s = alpha_s;
  protocol.beta_s_per_byte = beta_s_per_byte;
  return {{protocol}};
}

/// Host: socket 1 + s, node 2 + 3·s, network 5 + 4·s; device: ten times that. A node injects a byte a second.
Machine simple() {
  Machine machine;
  machine.name = "simple";
  machine.host.by_level = {line(1, 1), line(2, 3), {}, line(5, 4)};
  machine.device.by_level = {line(10, 10), line(20, 30), {}, line(50, 40)};
  machine.levels[standard_level::node].up_rate_bytes_per_s = 1;
  machine.host_to_device = {{1, 100, 2}, {4, 400, 8}};
  machine.device_to_host = {{1, 200, 3}, {4, 800, 12}};
  return machine;
}

const Node node{2, 20};
const Machine machine = simple();
// A process sends 8 bytes in 2 messages, its node 100 bytes, 10 of them to one other node.
const Load load{8, 100, 10, 2};

TEST(NodeAwareFormulas, OnNode) {
  // Eq. 4.1: (2 − 1)(1 + 10) + 2(2 + 30).
  EXPECT_DOUBLE_EQ(on_node(10, node, machine, Path::staged), 11 + 2 * 32);
  EXPECT_DOUBLE_EQ(on_node(10, node, machine, Path::device), 10 * (11 + 2 * 32));
  EXPECT_DOUBLE_EQ(on_node(10, Node{3, 20}, machine, Path::staged), 2 * 11 + 3 * 32)
      << "three devices a socket, as Summit";
}

TEST(NodeAwareFormulas, OnNodeSplit) {
  // Eq. 4.2: (20/1 − 1)(1 + 10) + 20(2 + 30), and with four processes a device (20/4 − 1)(…) + 5(…).
  EXPECT_DOUBLE_EQ(on_node_split(10, 1, node, machine), 19 * 11 + 20 * 32);
  EXPECT_DOUBLE_EQ(on_node_split(10, 4, node, machine), 4 * 11 + 5 * 32);
}

TEST(NodeAwareFormulas, OffNode) {
  // Eq. 4.3: 5·2 + max(100 / 1, 4·8), then where the process is slower than its node, and eq. 4.4.
  EXPECT_DOUBLE_EQ(off_node(2, 8, 100, machine, Path::staged), 10 + 100);
  EXPECT_DOUBLE_EQ(off_node(2, 8, 20, machine, Path::staged), 10 + 32);
  EXPECT_DOUBLE_EQ(off_node(2, 8, 100, machine, Path::device), 100 + 320);
}

TEST(NodeAwareFormulas, Copies) {
  // Eq. 4.5 as printed: 100 + 2·8 + 200 + 3·10, and by four processes 400 + 8·8 + 800 + 12·10.
  EXPECT_DOUBLE_EQ(copies(8, 10, 1, machine), 116 + 230);
  EXPECT_DOUBLE_EQ(copies(8, 10, 4, machine), 464 + 920);
}

TEST(NodeAwareFormulas, OfTableSix) {
  EXPECT_DOUBLE_EQ(standard(load, machine, Path::staged), 110);
  EXPECT_DOUBLE_EQ(standard(load, machine, Path::device), 420);
  // T_off(2, 10) + 2·T_on(10) + T_copy(8, 10).
  EXPECT_DOUBLE_EQ(three_step(load, node, machine, Path::staged), 110 + 2 * 75 + 346);
  EXPECT_DOUBLE_EQ(three_step(load, node, machine, Path::device), (100 + 400) + 2 * 750);
  // T_off(2, 8) + T_on(8) + T_copy(8, 10), T_on(8) = 9 + 2·26.
  EXPECT_DOUBLE_EQ(two_step(load, node, machine, Path::staged), 110 + 61 + 346);
  EXPECT_DOUBLE_EQ(two_step(load, node, machine, Path::device), 420 + 610);
  // T_off(2, 100/40) + 2·T_on-split(100, 1) + T_copy, T_on-split(100, 1) = 19·101 + 20·302.
  EXPECT_DOUBLE_EQ(split(load, 1, SplitReading::whole, node, machine), 110 + 2 * (19 * 101 + 20 * 302) + 346);
  EXPECT_DOUBLE_EQ(split(load, 4, SplitReading::whole, node, machine), 110 + 2 * (4 * 101 + 5 * 302) + 1384);
  // Messages of 100/40 = 2.5 bytes: 19·3.5 + 20·9.5.
  EXPECT_DOUBLE_EQ(split(load, 1, SplitReading::parts, node, machine), 110 + 2 * (19 * 3.5 + 20 * 9.5) + 346);
}

TEST(NodeAwareFormulas, TakeTheProtocolOfOneMessage) {
  const auto lassen = read_profile(COMMPASS_TEST_PROFILES "/lassen.json").machine;
  // 64 messages of 1000 bytes are eager, though 64000 bytes would be rendezvous; the node injects 256000 bytes at 1
  // / 4.19e-11 a second.
  EXPECT_DOUBLE_EQ(off_node(64, 64000, 256000, lassen, Path::staged),
                   64 * 2.44e-6 + std::max(256000 * 4.19e-11, 64000 * 3.79e-10));
  EXPECT_DOUBLE_EQ(on_node(100, node, lassen, Path::staged), 3.67e-7 + 1.32e-8 + 2 * (9.25e-7 + 1.19e-7));
}

TEST(NodeAwareFormulas, NeedTheirParameters) {
  auto poor = simple();
  poor.device = {};
  poor.host_to_device.pop_back();
  expect_sentence(error_of([&] { standard(load, poor, Path::device); }), {"profile simple", "device network"});
  expect_sentence(error_of([&] { split(load, 4, SplitReading::whole, node, poor); }),
                  {"profile simple", "host-to-device copies with processes = 4"});
}

}  // namespace
}  // namespace commpass::node_aware
