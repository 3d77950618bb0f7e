// The closed form of a batch says what the burst model does.
#include "model/cost/batch_times.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "model/cost/cost.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

/// Every rank, alone on its node, sends to the next ones.
Seconds burst_seconds(int ranks, int messages, Bytes bytes, const Machine& machine) {
  const auto layout = Layout::with_ppn(ranks, 1);
  Pattern pattern{ranks, {}};
  for (Rank rank = 0; rank < ranks; ++rank)
    for (int i = 1; i <= messages; ++i) pattern.edges.push_back({rank, (rank + i) % ranks, bytes});
  const auto route = make_route(parse_strategy("standard"), layout);
  return evaluate(make_schedule(*route, {}, pattern), layout, machine).seconds;
}

constexpr auto far = static_cast<std::size_t>(standard_level::network);

Machine cluster_without_node_limits() {
  auto machine = test::small_cluster();
  machine.levels[standard_level::node].up_rate_bytes_per_s =
      machine.levels[standard_level::node].down_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  machine.copy_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  return machine;
}

void expect_as_burst(const Machine& machine) {
  for (const int messages : {1, 2, 7})
    for (const Bytes bytes : {8, 1000, 100000}) {
      BatchLoad load;
      load.sent[far] = load.received[far] = messages;
      load.bytes = static_cast<double>(bytes);
      const auto expected = burst_seconds(8, messages, bytes, machine);
      EXPECT_NEAR(batch_times(load, machine).moving(), expected, 1e-9 * expected)
          << messages << " messages of " << bytes << " bytes";
    }
}

TEST(BatchTimes, AreThoseOfTheBurstModelWhereAllRanksSendTheSame) {
  auto machine = cluster_without_node_limits();
  auto& channel = *machine.host.by_level[far];
  channel.aggregate_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  channel.gamma_s.reset();
  for (const bool is_receiving_measured : {false, true}) {
    for (auto& protocol : channel.protocols)
      if (is_receiving_measured) protocol.alpha_receive_s = protocol.alpha_next_s / 2;
    expect_as_burst(machine);
  }
}

TEST(BatchTimes, EndNotBeforeTheLinkHasMovedAll) {
  auto machine = cluster_without_node_limits();
  auto& channel = *machine.host.by_level[far];
  channel = Channel{{Protocol{"all", test::no_limit, 3e-6, 1e-10, 5e-7, 0.0, 0.0, 0.0}}};
  channel.link_rate_bytes_per_s = 1e10;
  expect_as_burst(machine);
}

// Three messages of 1000 bytes that were launched before: 3 us − 0.5 us, then 0.1 us for the bytes, of which the last
// 0.4 us are the receiver's for the first, and as much again for each other. Or 8 us where the node lets out 1 byte in
// 1 ns, of 8000 bytes, after 2.5 us.
TEST(BatchTimes, AreThoseOfMessagesThatWaitForTheirReceive) {
  auto machine = cluster_without_node_limits();
  machine.host.by_level[far] = Channel{{Protocol{"all", test::no_limit, 3e-6, 1e-10, 5e-7, 0.0, 4e-7, 0.0}}};
  BatchLoad load;
  load.sent[far] = load.received[far] = 3;
  load.bytes = 1000;
  load.node_bytes = 8000;
  EXPECT_NEAR(batch_times(load, machine).moving_when_posted(), 2.6e-6 + 2 * 4e-7, 1e-15);
  machine.levels[standard_level::node].up_rate_bytes_per_s = 1e9;
  EXPECT_NEAR(batch_times(load, machine).moving_when_posted(), 2.5e-6 + 8e-6, 1e-15);
}

// Three messages of 1000 bytes, each launched in 0.5 us and 3.1 us under way alone. One of 4000 bytes somewhere takes
// 3.4 us, with half of its sender's launched after it; one of another protocol 9.8 us.
TEST(BatchTimes, EndWhenALargerMessageHasArrived) {
  auto machine = cluster_without_node_limits();
  machine.host.by_level[far] = Channel{{Protocol{"short", 5000, 3e-6, 1e-10, 5e-7, 0.0, 0.0, 0.0},
                                        Protocol{"long", test::no_limit, 9e-6, 1e-10, 5e-7, 0.0, 0.0, 0.0}}};
  BatchLoad load;
  load.sent[far] = load.received[far] = 3;
  load.bytes = 1000;
  const Seconds launched = 1.5e-6, usual = launched + 2.6e-6;
  EXPECT_NEAR(batch_times(load, machine).moving(), usual, 1e-15);
  load.last_bytes = 4000;
  EXPECT_NEAR(batch_times(load, machine).moving(), launched + 2.9e-6, 1e-15);
  EXPECT_NEAR(batch_times(load, machine).moving_when_posted(), 2.9e-6, 1e-15);
  load.after_last = 0.5;
  EXPECT_NEAR(batch_times(load, machine).moving(), usual, 1e-15) << "the others leave 0.75 us later";
  load.last_bytes = 8000;
  EXPECT_NEAR(batch_times(load, machine).moving(), launched + 9.3e-6 - 0.75e-6, 1e-15);
  EXPECT_NEAR(batch_times(load, machine).moving_when_posted(), 9.3e-6, 1e-15) << "all begin at once";
}

}  // namespace
}  // namespace commpass
