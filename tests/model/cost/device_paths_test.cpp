// Prices of data on devices, computed by hand next to each.
#include <gtest/gtest.h>

#include <cmath>

#include "model/cost/cost.hpp"
#include "model/cost/staging.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

constexpr DataPath on_devices{DataPath::Kind::device}, through_host{DataPath::Kind::staged},
    through_host_by_two{DataPath::Kind::staged, 2};
constexpr CostModel every_model[] = {CostModel::postal, CostModel::max_rate, CostModel::burst};

// Two nodes of four ranks: 0 … 3 and 4 … 7.
const Layout pair_of_nodes = Layout::regular(2, 1, 4);

/// Host: socket 1 + 0.001·s, network 100 + 0.1·s. Device: socket 2 + 0.0005·s, network 300 + 0.2·s.
Machine machine_with_devices() {
  Machine m;
  m.name = "devices";
  test::set_channel(m, standard_level::socket, test::one_protocol(1, 0.001));
  test::set_channel(m, standard_level::network, test::one_protocol(100, 0.1));
  m.device.by_level[standard_level::socket] = test::one_protocol(2, 0.0005);
  m.device.by_level[standard_level::network] = test::one_protocol(300, 0.2);
  m.device_to_host = {{4, 9, 0.04}, {1, 6, 0.01}};  // in any order
  m.host_to_device = {{1, 7, 0.02}, {4, 11, 0.05}};
  return m;
}

/// What each strategy of a schedule costs, on a path, of the edges of a pattern.
Cost cost_on(const DataPath& path, const char* strategy, const Pattern& pattern, const Machine& m,
             CostModel model = CostModel::burst) {
  return evaluate(test::schedule_of(strategy, pair_of_nodes, pattern), pair_of_nodes, m, model, Usage::planned, path);
}

TEST(DeviceCopies, ByNumbersOfProcessesBetweenThoseThatWereMeasuredGrowEvenly) {
  const auto copies = machine_with_devices().device_to_host;
  EXPECT_EQ(copy_by(copies, 1), (DeviceCopy{1, 6, 0.01}));
  EXPECT_EQ(copy_by(copies, 4), (DeviceCopy{4, 9, 0.04}));
  EXPECT_DOUBLE_EQ(copy_by(copies, 2).alpha_s, 7);
  EXPECT_DOUBLE_EQ(copy_by(copies, 2).beta_s_per_byte, 0.02);
  EXPECT_EQ(copy_by(copies, 10), (DeviceCopy{4, 9, 0.04})) << "the nearest stands in";
  EXPECT_EQ(copy_by(std::span(copies).first(1), 1), (DeviceCopy{4, 9, 0.04}));
}

TEST(DeviceCopies, OfRanksThatShareADeviceShareWhatItMoves) {
  const auto copies = machine_with_devices().device_to_host;
  const std::vector<Bytes> bytes{100, 0, 300, 0, 0, 0, 0, 50};
  const auto seconds = [&](int each, std::optional<int> devices) {
    return device_copy_seconds(bytes, copies, each, pair_of_nodes, devices);
  };
  using Times = std::vector<Seconds>;
  EXPECT_EQ(seconds(1, {}), (Times{6 + 1, 0, 6 + 3, 0, 0, 0, 0, 6.5})) << "each has its own";
  EXPECT_EQ(seconds(1, 2), seconds(1, {})) << "only ranks with data count";
  // On one device two processes copy: 7 + 0.02·s. Until 100 bytes of each are there both go on, then one alone.
  EXPECT_EQ(seconds(1, 1), (Times{7 + 0.02 * 200, 0, 7 + 0.02 * 400, 0, 0, 0, 0, 6.5}));
  // Two processes for each rank: four on the first device, as the node has no more, and two on the other.
  EXPECT_EQ(seconds(2, 1), (Times{9 + 0.04 * 200, 0, 9 + 0.04 * 400, 0, 0, 0, 0, 7 + 0.02 * 50}));
  EXPECT_EQ(seconds(4, 1)[0], 9 + 0.04 * 200);
}

TEST(StagedData, IsCopiedToTheHostAndBack) {
  const Pattern pattern{8, {{0, 4, 40}}};
  for (const auto model : every_model) {
    const auto cost = cost_on(through_host, "standard", pattern, machine_with_devices(), model);
    EXPECT_DOUBLE_EQ(cost.seconds, (6 + 0.4) + (100 + 4) + (7 + 0.8)) << name_of(model);
    ASSERT_EQ(cost.stages.size(), 3U);
    EXPECT_DOUBLE_EQ(cost.stages[0].seconds, 6.4);
    EXPECT_DOUBLE_EQ(cost.stages[2].seconds, 7.8);
    for (const auto s : {0U, 2U}) {
      EXPECT_TRUE(cost.stages[s].is_staging);
      EXPECT_EQ(cost.stages[s].bytes_max, 40);
      EXPECT_EQ(cost.stages[s].messages_max, 0);
      EXPECT_EQ(cost.stages[s].dominant(), CostPart::staging);
    }
    EXPECT_FALSE(cost.stages[1].is_staging);
    EXPECT_DOUBLE_EQ(cost_on(through_host_by_two, "standard", pattern, machine_with_devices(), model).seconds,
                     (7 + 0.8) + 104 + (7 + 4.0 / 3 + 0.03 * 40));
  }
}

TEST(StagedData, OfManyBytesDelaysNoOtherRankUnderBurst) {
  // Rank 0 sends 40 bytes into the network, rank 1 sends 1000 to its neighbour.
  const Pattern pattern{8, {{0, 4, 40}, {1, 2, 1000}}};
  const auto m = machine_with_devices();
  const Seconds far = 6.4 + 104 + 7.8, near = 16 + 2 + 27;
  EXPECT_DOUBLE_EQ(cost_on(through_host, "standard", pattern, m).seconds, std::max(far, near));
  EXPECT_DOUBLE_EQ(cost_on(through_host, "standard", pattern, m, CostModel::postal).seconds, 16 + 104 + 27)
      << "the papers' models add up the slowest of each";
}

TEST(StagedData, CountsItsOwnBlockAndWhatItSendsTwiceOnce) {
  Pattern pattern{8, {{0, 0, 10}, {0, 4, 40}, {0, 5, 40}}};
  pattern.edges[1].payload = pattern.edges[2].payload = 0;
  const auto schedule = test::schedule_of("standard", pair_of_nodes, pattern);
  EXPECT_EQ(schedule.send_bytes, (std::vector<Bytes>{50, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(schedule.receive_bytes, (std::vector<Bytes>{10, 0, 0, 0, 40, 40, 0, 0}));
  const auto cut = test::schedule_of("split,cap=7", pair_of_nodes, pattern);
  EXPECT_EQ(cut.send_bytes, schedule.send_bytes) << "cut or not";
  EXPECT_EQ(cut.receive_bytes, schedule.receive_bytes);
}

TEST(DataOnDevices, GoesByTheChannelsOfDevicesWithoutTheLimitOfHosts) {
  const Pattern pattern{8, {{0, 4, 40}}};
  auto m = machine_with_devices();
  m.levels[standard_level::node].up_rate_bytes_per_s = 1;
  for (const auto model : every_model)
    EXPECT_DOUBLE_EQ(cost_on(on_devices, "standard", pattern, m, model).seconds, 300 + 8) << name_of(model);
  EXPECT_DOUBLE_EQ(cost_on(through_host, "standard", pattern, m, CostModel::max_rate).seconds, 6.4 + 100 + 40 + 7.8);
  m.device.by_level[standard_level::network]->aggregate_rate_bytes_per_s = 0.5;
  EXPECT_DOUBLE_EQ(cost_on(on_devices, "standard", pattern, m).seconds, 300 + 80) << "but by one of their own";
}

TEST(DataOnDevices, IsPackedByOneKernelForAllMessagesOfABatch) {
  // Rank 0 sends two messages of two pieces each within its node; the receivers copy them out.
  Schedule schedule;
  schedule.ranks = 8;
  schedule.self_bytes = schedule.send_bytes = schedule.receive_bytes = std::vector<Bytes>(8, 0);
  auto& stage = schedule.stages.emplace_back();
  for (const Rank to : {1, 2}) {
    Message message;
    message.from = 0;
    message.to = to;
    message.round = 1;
    message.bytes = message.unpacked_bytes = 40;
    message.blocks = message.packed_pieces = message.unpacked_pieces = 2;
    stage.messages.push_back(message);
  }
  const auto cost =
      evaluate(schedule, pair_of_nodes, machine_with_devices(), CostModel::burst, Usage::planned, on_devices);
  // A copy to the host starts in 6; the bytes go at the rate of the fastest message between devices.
  constexpr Seconds pack = 6 + 80 * 0.0005, send = 2 * (2 + 40 * 0.0005), unpack = 6 + 40 * 0.0005;
  EXPECT_DOUBLE_EQ(cost.seconds, pack + send + unpack);
  EXPECT_DOUBLE_EQ(
      evaluate(schedule, pair_of_nodes, machine_with_devices(), CostModel::postal, Usage::planned, on_devices).seconds,
      send)
      << "the papers' models do not pack";
}

TEST(DataOnDevices, IsPackedAsWasMeasured) {
  auto m = machine_with_devices();
  m.device_copy_call_s = 3;
  m.device_copy_rate_bytes_per_s = 50;
  EXPECT_DOUBLE_EQ(cost_on(on_devices, "standard", {8, {{3, 3, 100}}}, m).seconds, 3 + 2);
}

TEST(DataOnDevices, OfARankToItselfStartsACopy) {
  EXPECT_DOUBLE_EQ(cost_on(on_devices, "standard", {8, {{3, 3, 100}}}, machine_with_devices()).seconds, 6 + 0.05);
}

TEST(DataOnDevices, NeedsItsParameters) {
  auto m = machine_with_devices();
  m.device.by_level[standard_level::network].reset();
  const Pattern pattern{8, {{0, 4, 40}}};
  test::expect_sentence(test::error_of([&] { cost_on(on_devices, "standard", pattern, m); }),
                        {"profile devices", "no device parameters for 'network'", "2 nodes"});
  m.host_to_device.clear();
  test::expect_sentence(test::error_of([&] { cost_on(through_host, "standard", pattern, m); }),
                        {"profile devices", "no copy.host_to_device"});
}

TEST(ClosedFormOfDeviceData, IsThePriceOfAllBlocks) {
  auto m = machine_with_devices();
  m.devices_per_node = 2;
  m.copy_block_s = 0.5;
  for (const auto* text : {"standard", "two-step", "stfw,dims=4x2"}) {
    const auto strategy = parse_strategy(text);
    const auto route = make_route(strategy, pair_of_nodes);
    const auto schedule = test::schedule_of(text, pair_of_nodes, generate_pattern("alltoall:ranks=8,bytes=48"));
    for (const auto& path : {on_devices, through_host, through_host_by_two})
      for (const auto model : every_model) {
        SCOPED_TRACE(text + to_string(path) + " " + name_of(model));
        const auto exact = evaluate(schedule, pair_of_nodes, m, model, Usage::planned, path).seconds;
        const auto closed =
            estimate({1, 1, 48}, *route, strategy.window, pair_of_nodes, m, model, Usage::planned, path).seconds;
        EXPECT_NEAR(closed, exact, 1e-9 * exact);
      }
  }
}

}  // namespace
}  // namespace commpass
