// Exchanges of data on devices: every strategy and path against the naive exchange.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <random>

#include "model/route/catalogue.hpp"
#include "runtime/communicator.hpp"
#include "runtime/device/device_machines.hpp"
#include "runtime/device/emulated_device.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::DeviceBytes;
using test::EmulatedDevices;
using test::is_device_aware;
using test::rank_of;
using test::size_of;
using test::some_machine;
using test::UsersStream;

/// The buffers of an exchange, each on the device or in host memory.
struct Buffers {
  test::LocalExchange local;
  bool is_send_on_device = true, is_receive_on_device = true;
  DeviceBytes send{local.send_buffer.size()}, receive{local.receive_buffer.size()};

  const std::byte* from() const { return is_send_on_device ? send.data() : local.send_buffer.data(); }
  std::byte* to() { return is_receive_on_device ? receive.data() : local.receive_buffer.data(); }

  Exchange plan(Communicator& communicator, const std::string& strategy) {
    return communicator.neighbor_exchange(from(), local.sends, to(), local.receives, {strategy});
  }

  /// Fills the buffers by work of the user's stream, exchanges and reads by it.
  void expect_delivery(Exchange& exchange, const UsersStream& users, unsigned turn) {
    test::fill(local, rank_of(), turn);
    const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
    if (is_send_on_device) {
      send.write(local.send_buffer, users.get());
      std::ranges::fill(local.send_buffer, std::byte{0xAB});  // which must not be sent
    }
    if (is_receive_on_device) receive.write(local.receive_buffer, users.get());
    exchange.start();
    exchange.wait();
    ASSERT_EQ(is_receive_on_device ? receive.read(users.get()) : local.receive_buffer, expected);
  }
};

std::vector<std::string> strategies_for(const Layout& layout) {
  std::vector<std::string> result;
  for (const auto& strategy : suggest_strategies(layout)) result.push_back(to_string(strategy));
  for (const auto* text : {"standard,staggered", "two-step,window=1,staggered", "split,cap=100", "mpi"})
    if (std::ranges::find(result, text) == result.end()) result.emplace_back(text);
  return result;
}

std::vector<std::string> paths_for(const Layout& layout) {
  if (is_device_aware()) return {"@staged", "@device"};
  std::vector<std::string> result{"@staged"};
  for (const int copies : {2, 4})
    if (copies <= layout.max_ppn()) result.push_back("@staged,copies=" + std::to_string(copies));
  return result;
}

class EveryStrategyOnDevices : public testing::TestWithParam<unsigned> {};

TEST_P(EveryStrategyOnDevices, DeliversWhatTheNaiveExchangeDelivers) {
  const unsigned seed = GetParam() * 1000 + static_cast<unsigned>(size_of());
  const auto layout = test::random_layout(size_of(), seed);
  auto pattern = test::random_pattern(size_of(), seed + 1);
  if (GetParam() % 3 > 0) pattern = test::with_shared_payloads(pattern, seed);
  test::StreamCommunicator communicator(some_machine(), {layout});
  std::mt19937 random(seed + static_cast<unsigned>(rank_of()));  // ranks differ in where their data lies
  const auto draw = [&] { return GetParam() % 2 == 0 || random() % 2 == 0; };
  Buffers buffers{test::local_part(pattern, rank_of(), GetParam() % 2 == 0 ? 3 : 0, seed), draw(), draw()};
  for (const auto& strategy : strategies_for(layout))
    for (const auto& path : paths_for(layout)) {
      SCOPED_TRACE(strategy + path + ", " + layout.describe() + ", seed " + std::to_string(seed));
      auto exchange = buffers.plan(communicator, strategy + path);
      EXPECT_EQ(exchange.strategy(), strategy + path);
      for (unsigned turn = 0; turn < 2; ++turn) buffers.expect_delivery(exchange, communicator.users, turn);
    }
}

INSTANTIATE_TEST_SUITE_P(Random, EveryStrategyOnDevices, testing::Range(0U, 6U));

/// Every rank sends some bytes to every rank, itself too.
Buffers all_to_all(Bytes bytes) {
  Pattern pattern{size_of(), {}};
  for (Rank i = 0; i < size_of(); ++i)
    for (Rank j = 0; j < size_of(); ++j) pattern.edges.push_back({i, j, bytes});
  return {test::local_part(pattern, rank_of(), 0, 1)};
}

TEST(DeviceExchange, IsStagedWhereNothingElseIsNamedAndSaysSo) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  auto buffers = all_to_all(100);
  if (rank_of() > 0) buffers.is_send_on_device = buffers.is_receive_on_device = false;  // one rank is enough
  const UsersStream users;
  communicator.use_stream(users.get());
  for (const auto* name : {"", "standard"}) {
    auto exchange = buffers.plan(communicator, name);
    EXPECT_TRUE(exchange.strategy().ends_with("@staged")) << exchange.strategy();
    EXPECT_NE(exchange.explanation().find("copied to host memory"), std::string::npos);
    buffers.expect_delivery(exchange, users, 1);
  }
}

// MPI gets device addresses only if it takes them.
TEST(DeviceExchange, IsChosenOnThePathsThatHavePricesAndCanBeRun) {
  test::StreamCommunicator communicator(test::lassen_with_slow_copies(), {Layout::with_ppn(size_of(), 1)});
  auto buffers = all_to_all(1000);
  for (const bool on_device : {true, false, true}) {
    buffers.is_send_on_device = buffers.is_receive_on_device = on_device;
    auto exchange = buffers.plan(communicator, "");
    EXPECT_TRUE(exchange.predicted_seconds().has_value());
    const auto path = to_string(parse_strategy(exchange.strategy()).path);
    const std::string cheapest = is_device_aware() ? "@device" : "@staged";
    EXPECT_TRUE(size_of() == 1 || path == (on_device ? cheapest : "")) << exchange.strategy();
    buffers.expect_delivery(exchange, communicator.users, 1);
  }
}

TEST(DeviceExchange, IsChosenForTimingWithoutUntimedPaths) {
  const auto lassen = test::lassen();
  test::StreamCommunicator communicator(lassen, {Layout::with_ppn(size_of(), 4)});
  auto buffers = all_to_all(1000);
  ExchangeOptions options;
  options.planner = PlannerMode::measure;
  options.planner_seconds = 0.01;
  buffers.send.write(buffers.local.send_buffer, communicator.users.get());
  auto exchange = communicator.neighbor_exchange(buffers.from(), buffers.local.sends, buffers.to(),
                                                 buffers.local.receives, options);
  EXPECT_EQ(parse_strategy(exchange.strategy()).path.copies, 1) << exchange.strategy();
  buffers.expect_delivery(exchange, communicator.users, 1);
}

// Trials copy to the device, too, and leave the user's receive buffer unchanged.
TEST(DeviceExchange, IsTimedFromADeviceToADevice) {
  if (size_of() > 3) GTEST_SKIP() << "ranks that take turns are slow";
  const auto lassen = test::lassen();
  test::StreamCommunicator communicator(lassen, {Layout::with_ppn(size_of(), 2)});
  auto buffers = all_to_all(1000);
  test::fill(buffers.local, rank_of(), 7);
  buffers.send.write(buffers.local.send_buffer, communicator.users.get());
  buffers.receive.write(buffers.local.receive_buffer, communicator.users.get());
  auto& devices = EmulatedDevices::get();
  const auto alive = devices.alive();
  ExchangeOptions options;
  options.planner = PlannerMode::measure;
  options.planner_seconds = 0.001;
  {
    auto exchange = communicator.neighbor_exchange(buffers.from(), buffers.local.sends, buffers.to(),
                                                   buffers.local.receives, options);
    EXPECT_EQ(buffers.receive.read(communicator.users.get()), buffers.local.receive_buffer);
    if (size_of() > 1) {
      EXPECT_NE(exchange.explanation().find("standard@staged"), std::string::npos) << exchange.explanation();
      EXPECT_EQ(exchange.explanation().find("standard@device") != std::string::npos, is_device_aware());
      EXPECT_TRUE(exchange.strategy().find('@') != std::string::npos) << exchange.strategy();
    }
    buffers.expect_delivery(exchange, communicator.users, 1);
  }
  EXPECT_EQ(devices.alive(), alive) << "trials leave nothing behind";
}

TEST(DeviceExchange, IsNotStagedWhereNothingLiesOnADevice) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  auto buffers = all_to_all(100);
  buffers.is_send_on_device = buffers.is_receive_on_device = false;
  const UsersStream users;
  auto& devices = EmulatedDevices::get();
  for (const auto* name : {"standard", "standard@staged", "standard@device"}) {
    const auto before = devices.copies();
    auto exchange = buffers.plan(communicator, name);
    EXPECT_EQ(exchange.strategy(), name);
    buffers.expect_delivery(exchange, users, 1);
    EXPECT_EQ(devices.copies(), before);
  }
}

// The plan of a pattern refers to no buffers, so it serves buffers in either memory.
TEST(DeviceExchange, TakesThePlanOfThePatternInHostMemoryAndGivesItBack) {
  test::StreamCommunicator communicator;
  auto buffers = all_to_all(64);
  for (const bool on_device : {false, true, false}) {
    buffers.is_send_on_device = buffers.is_receive_on_device = on_device;
    auto exchange = buffers.plan(communicator, "standard");
    EXPECT_EQ(exchange.strategy(), on_device ? "standard@staged" : "standard");
    buffers.expect_delivery(exchange, communicator.users, 2);
  }
}

TEST(DeviceExchange, CopiesAdjacentPiecesInOneBatch) {
  test::StreamCommunicator communicator;
  auto buffers = all_to_all(100);
  auto exchange = buffers.plan(communicator, "standard@staged");
  const auto before = EmulatedDevices::get().copies();
  buffers.expect_delivery(exchange, communicator.users, 3);
  const bool is_between_others = rank_of() > 0 && rank_of() + 1 < size_of();  // what it sends to itself
  const std::size_t to_oneself = 1, sent = size_of() > 1 ? 1 : 0, received = is_between_others ? 2 : sent;
  EXPECT_EQ(EmulatedDevices::get().copies() - before, to_oneself + sent + received);
}

TEST(DeviceExchange, HasSeveralInFlightThatRanksCompleteInAnyOrder) {
  test::StreamCommunicator communicator(some_machine(), {Layout::with_ppn(size_of(), 2)});
  Buffers first = all_to_all(50), second = all_to_all(3000);
  auto one = first.plan(communicator, "two-step@staged"), other = second.plan(communicator, "standard@staged");
  for (unsigned turn = 0; turn < 3; ++turn) {
    std::vector<std::vector<std::byte>> expected;
    for (auto* buffers : {&first, &second}) {
      test::fill(buffers->local, rank_of(), turn);
      expected.push_back(test::naive_exchange(buffers->local, MPI_COMM_WORLD));
      buffers->send.write(buffers->local.send_buffer, communicator.users.get());
      buffers->receive.write(buffers->local.receive_buffer, communicator.users.get());
    }
    if (rank_of() % 2 == 0) {
      one.start();
      other.start();
      one.wait();
      other.wait();
    } else {
      other.start();
      one.start();
      while (!other.test()) continue;
      one.wait();
    }
    EXPECT_EQ(first.receive.read(communicator.users.get()), expected[0]);
    EXPECT_EQ(second.receive.read(communicator.users.get()), expected[1]);
  }
}

TEST(DeviceExchange, CompletesWhenItIsDestroyedInFlightAndLeavesNothingBehind) {
  const auto before = EmulatedDevices::get().alive();
  {
    Communicator communicator(MPI_COMM_WORLD, some_machine());
    auto buffers = all_to_all(500);
    const UsersStream users;
    communicator.use_stream(users.get());
    test::fill(buffers.local, rank_of(), 4);
    const auto expected = test::naive_exchange(buffers.local, MPI_COMM_WORLD);
    buffers.send.write(buffers.local.send_buffer, users.get());
    {
      auto exchange = buffers.plan(communicator, "standard@staged");
      exchange.start();
    }
    EXPECT_EQ(buffers.receive.read(users.get()), expected);
  }
  EXPECT_EQ(EmulatedDevices::get().alive(), before);
}

TEST(DeviceExchange, RefusesTwoDevicesOfARankOnAllRanks) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  auto buffers = all_to_all(8);
  const DeviceBytes elsewhere(buffers.local.receive_buffer.size(), 1);
  const auto error = common_error([&] {
    communicator.neighbor_exchange(buffers.from(), buffers.local.sends,
                                   rank_of() == 0 ? elsewhere.data() : buffers.to(), buffers.local.receives,
                                   {"standard"});
  });
  EXPECT_NE(error.find("another device"), std::string::npos) << error;
}

// Ranks 0, 3, 6 … have data, and the two other ranks of each node have none.
TEST(DeviceExchange, LetsRanksWithoutDataCopyForOthers) {
  if (size_of() < 3) GTEST_SKIP() << "no rank can help";
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 3)});
  Pattern pattern{size_of(), {}};
  constexpr Bytes many = 100000;  // which is cut
  for (Rank i = 0; i < size_of(); i += 3)
    for (Rank j = 0; j < size_of(); j += 3) pattern.edges.insert(pattern.edges.end(), {{i, j, many + i}, {i, j, 10}});
  Buffers buffers{test::local_part(pattern, rank_of(), 0, 1)};
  const UsersStream users;
  communicator.use_stream(users.get());
  auto exchange = buffers.plan(communicator, "standard@staged,copies=3");
  auto& devices = EmulatedDevices::get();
  for (unsigned turn = 0; turn < 3; ++turn) {
    const auto before = devices.copies();
    buffers.expect_delivery(exchange, users, turn);
    EXPECT_EQ(devices.copies() > before, size_of() > 3 || rank_of() == 0) << "each rank copies its part";
  }
}

TEST(DeviceExchange, LeavesNothingOfAnotherProcessOpen) {
  if (size_of() < 2) GTEST_SKIP() << "no rank can help";
  const auto before = EmulatedDevices::get().alive();
  {
    Communicator communicator(MPI_COMM_WORLD, some_machine());
    auto buffers = all_to_all(20000);
    if (rank_of() > 0) buffers.is_send_on_device = buffers.is_receive_on_device = false;
    const UsersStream users;
    communicator.use_stream(users.get());
    auto exchange = buffers.plan(communicator, "standard@staged,copies=2");
    buffers.expect_delivery(exchange, users, 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_EQ(EmulatedDevices::get().alive(), before);
}

TEST(DeviceExchange, RefusesThePathDeviceWhereMpiDoesNotTakeDeviceMemory) {
  if (is_device_aware()) GTEST_SKIP() << "it does";
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  auto buffers = all_to_all(8);
  if (rank_of() > 0) buffers.is_send_on_device = buffers.is_receive_on_device = false;
  for (const auto* name : {"standard@device", "stfw,n=2@device"}) {
    if (size_of() < 4 && name[1] == 't' && name[2] == 'f') continue;
    const auto error = common_error([&] { buffers.plan(communicator, name); });
    EXPECT_NE(error.find("does not take emulated memory"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace commpass
