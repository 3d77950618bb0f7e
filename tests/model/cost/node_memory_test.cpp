// Prices of messages through memory that ranks of a node share, computed by hand next to each.
#include <gtest/gtest.h>

#include "model/cost/cost.hpp"
#include "model/machine/profile.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

constexpr DataPath by_messages{}, shared = shared_host_path;
const Layout four_ranks = Layout::regular(1, 1, 4), fours = Layout::regular(2, 1, 4);

/// Host: socket 10 + 0.01·s, network 100 + 0.1·s, and 7 for a batch. Through memory: socket 2 + 0.001·s.
Machine machine_with_memory() {
  Machine m;
  m.name = "memory";
  test::set_channel(m, standard_level::socket, test::one_protocol(10, 0.01));
  test::set_channel(m, standard_level::network, test::one_protocol(100, 0.1));
  m.shared.by_level[standard_level::socket] = test::one_protocol(2, 0.001);
  m.operations.batch_s = 7;
  return m;
}

Seconds seconds_on(const DataPath& path, const Layout& layout, const Pattern& pattern,
                   const Machine& m = machine_with_memory()) {
  return evaluate(test::schedule_of("standard", layout, pattern), layout, m, CostModel::burst, Usage::planned, path)
      .seconds;
}

TEST(NodeMemory, MovesMessagesWithinANodeWithAllThatTheirExchangeTakes) {
  const Pattern pattern{4, {{0, 1, 1000}}};
  EXPECT_DOUBLE_EQ(seconds_on(by_messages, four_ranks, pattern), 7 + 10 + 10);
  EXPECT_DOUBLE_EQ(seconds_on(shared, four_ranks, pattern), 2 + 1) << "the batch is part of alpha";
}

TEST(NodeMemory, LeavesMessagesBetweenNodesAsTheyAre) {
  const Pattern pattern{8, {{0, 4, 1000}}};
  EXPECT_DOUBLE_EQ(seconds_on(shared, fours, pattern), 7 + 100 + 100);
  EXPECT_DOUBLE_EQ(seconds_on(shared, fours, pattern), seconds_on(by_messages, fours, pattern));
}

TEST(NodeMemory, LeavesLargeMessagesAsTheyAre) {
  const Pattern largest{4, {{0, 1, shared_bytes_max}}}, larger{4, {{0, 1, shared_bytes_max + 1}}};
  EXPECT_DOUBLE_EQ(seconds_on(shared, four_ranks, largest), 2 + 0.001 * shared_bytes_max);
  EXPECT_DOUBLE_EQ(seconds_on(shared, four_ranks, larger), seconds_on(by_messages, four_ranks, larger));
}

TEST(NodeMemory, MovesMessagesOfAnySizeInACall) {
  auto m = machine_with_memory();
  m.operations.batch_once_s = 9;
  const auto seconds = [&](const DataPath& path, const char* strategy = "standard") {
    const Pattern larger{4, {{0, 1, 10 * shared_bytes_max}}};
    return evaluate(test::schedule_of(strategy, four_ranks, larger), four_ranks, m, CostModel::burst, Usage::once, path)
        .seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(by_messages), 9 + 10 + 0.1 * shared_bytes_max);
  EXPECT_DOUBLE_EQ(seconds(shared), 2 + 0.01 * shared_bytes_max) << "alpha has all that a direct call takes";
  EXPECT_DOUBLE_EQ(seconds(shared, "stfw,n=2"), 2 * (9 - 7) + 2 + 0.01 * shared_bytes_max)
      << "alpha has a planned batch for each stage";
}

TEST(NodeMemory, IsThatOfTheNextOuterLevelWhereALevelHasNone) {
  auto m = machine_with_memory();
  m.shared.by_level[standard_level::node] = test::one_protocol(3, 0);
  const auto sockets = Layout::regular(1, 2, 2);
  EXPECT_DOUBLE_EQ(seconds_on(shared, sockets, {4, {{0, 2, 1000}}}, m), 3);
  EXPECT_DOUBLE_EQ(seconds_on(shared, sockets, {4, {{0, 1, 1000}}}, m), 2 + 1);
  m.shared.by_level[standard_level::socket].reset();
  EXPECT_DOUBLE_EQ(seconds_on(shared, sockets, {4, {{0, 1, 1000}}}, m), 3);
}

TEST(NodeMemory, WaitsForNoReceive) {
  auto m = machine_with_memory();
  auto& channel = *m.host.by_level[standard_level::socket];
  channel.rendezvous_from_bytes = 100;
  const auto with = with_node_memory(m, Usage::planned);
  const auto& joined = *with.host.by_level[standard_level::socket];
  EXPECT_TRUE(joined.is_eager(shared_bytes_max));
  EXPECT_TRUE(joined.awaits_receive(shared_bytes_max + 1));
  ASSERT_EQ(joined.protocols.size(), 2);
  EXPECT_EQ(joined.protocols[0].max_bytes, shared_bytes_max);
  EXPECT_EQ(joined.protocols[1], channel.protocols.front());
}

TEST(NodeMemory, IsReadAndWrittenWithItsProfile) {
  const Profile profile{machine_with_memory(), "{}"};
  const auto again = parse_profile(to_json(profile), "again").machine;
  EXPECT_EQ(again.shared, profile.machine.shared);
}

TEST(NodeMemory, HasNoMeaningBetweenNodes) {
  auto m = machine_with_memory();
  m.shared.by_level[standard_level::network] = test::one_protocol(2, 0.001);
  test::expect_sentence(test::error_of([&] {
                          parse_profile(to_json({m, "{}"}), "broken");
                        }),
                        {"broken", "shared", "has no meaning there"});
}

}  // namespace
}  // namespace commpass
