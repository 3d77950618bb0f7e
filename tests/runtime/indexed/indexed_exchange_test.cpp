// Indexed exchanges against values that are known on all ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "model/base/error.hpp"
#include "runtime/communicator.hpp"
#include "runtime/indexed/scenario.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace {

/// Bytes of the persistent sends that this process has made, by peer.
std::map<int, std::int64_t> planned_bytes;
std::mutex planned_bytes_mutex;  // other tests of this program make sends in several threads

}  // namespace

extern "C" int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                             MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  {
    const std::lock_guard lock(planned_bytes_mutex);
    planned_bytes[peer] += std::int64_t{count} * size;
  }
  return PMPI_Send_init(buffer, count, type, peer, tag, comm, request);
}

namespace commpass {
namespace {

using test::common_error;
using test::random_scenario;
using test::rank_of;
using test::Scenario;
using test::size_of;
using test::some_machine;
using test::values_of;

constexpr std::array<Bytes, 4> value_sizes{1, 3, 8, 24};
const std::array<std::string, 4> strategies{"two-step", "stfw,dims=3x2x5x7", "standard", ""};
const std::array<std::optional<bool>, 3> sharings{std::nullopt, true, false};

class RandomIndices : public testing::TestWithParam<unsigned> {
 protected:
  const unsigned seed_ = GetParam() + 1200 * static_cast<unsigned>(size_of());
  const Scenario scenario_ = random_scenario(size_of(), seed_);
  Communicator communicator_{MPI_COMM_WORLD, some_machine(), {test::random_layout(size_of(), seed_)}};
};

TEST_P(RandomIndices, BringEveryNeededValue) {
  unsigned number = GetParam();  // so that each way meets each size, bound and not
  for (const auto& strategy : strategies)
    for (const auto& share : sharings) {
      const auto value_bytes = value_sizes[++number % value_sizes.size()];
      const bool is_bound = number / value_sizes.size() % 2 == 0;
      SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_) + ", number " + std::to_string(number));
      std::vector<std::byte> ghosts(scenario_.needed_here().size() * static_cast<std::size_t>(value_bytes));
      IndexedOptions options;
      options.strategy = strategy;
      options.share = share;
      if (is_bound) options.ghost_values = ghosts.data();
      auto exchange =
          communicator_.indexed_exchange(scenario_.owned_by(rank_of()), scenario_.needed_here(), value_bytes, options);
      for (unsigned turn = 0; turn < 2; ++turn) {
        auto owned = values_of(scenario_.owned_here(), value_bytes, turn);
        exchange.start_forward(owned.data(), ghosts.data());
        std::ranges::fill(owned, std::byte{0xEE});  // they were gathered
        if (turn == 0) exchange.wait();
        else
          while (!exchange.test()) std::this_thread::yield();
        ASSERT_EQ(ghosts, values_of(scenario_.needed_here(), value_bytes, turn));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomIndices, testing::Range(0U, 8U));

/// Rank 0 owns all values, and every rank needs all of them.
struct Broadcasting {
  explicit Broadcasting(Index values)
      : owned(rank_of() == 0 ? IndexRange{0, values} : IndexRange{}), needed(static_cast<std::size_t>(values)) {
    std::iota(needed.begin(), needed.end(), Index{0});
  }
  IndexRange owned;
  std::vector<Index> needed;
};

/// What all ranks together would send to other nodes in one exchange.
std::int64_t bytes_between_nodes(const Layout& layout) {
  std::int64_t bytes = 0;
  for (const auto& [peer, sent] : planned_bytes)
    if (layout.node(peer) != layout.node(rank_of())) bytes += sent;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return bytes;
}

TEST(Sharing, LetsAValueThatAllRanksOfANodeNeedCrossTheNetworkOnce) {
  const auto layout = Layout::with_ppn(size_of(), 3);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  const Broadcasting all(1000);
  for (const bool share : {true, false}) {
    planned_bytes.clear();
    IndexedOptions options;
    options.strategy = "two-step";
    options.share = share;
    auto exchange = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), options);
    const int receivers = share ? layout.nodes() - 1 : layout.ranks() - layout.ppn(0);
    EXPECT_EQ(bytes_between_nodes(layout), receivers * std::ssize(all.needed) * Bytes{sizeof(double)}) << share;
    EXPECT_EQ(exchange.shares_values(), share && size_of() > 2);
    EXPECT_EQ(exchange.received_bytes(), rank_of() == 0 ? 0 : std::ssize(all.needed) * Bytes{sizeof(double)});
  }
}

TEST(Sharing, LetsOneSumOfANodeCrossTheNetworkOnTheWayBack) {
  const auto layout = Layout::with_ppn(size_of(), 3);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  const Broadcasting all(1000);
  const Bytes values_bytes = std::ssize(all.needed) * Bytes{sizeof(double)};
  for (const bool is_deterministic : {false, true}) {
    planned_bytes.clear();
    auto exchange = communicator.indexed_exchange(
        all.owned, all.needed, sizeof(double),
        {.strategy = "two-step", .reverse = true, .share = true, .deterministic = is_deterministic});
    const int there = layout.nodes() - 1, one_by_one = layout.ranks() - layout.ppn(0);
    EXPECT_EQ(bytes_between_nodes(layout), (there + (is_deterministic ? one_by_one : there)) * values_bytes);
    EXPECT_EQ(exchange.adds_on_the_way(), !is_deterministic && size_of() > 2);
    EXPECT_EQ(exchange.reverse_strategy(), "two-step");
  }
}

TEST(Sharing, IsChosenWhereItPays) {
  constexpr int ppn = 3, first_with_two_readers_on_another_node = ppn + 2;
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), ppn)});
  const Broadcasting many(5000), one(1);
  EXPECT_EQ(communicator.indexed_exchange(many.owned, many.needed, sizeof(double)).shares_values(),
            size_of() >= first_with_two_readers_on_another_node);
  EXPECT_FALSE(communicator.indexed_exchange(one.owned, one.needed, sizeof(double)).shares_values())
      << "its edges cost more";
  Communicator one_node(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), size_of())});
  EXPECT_FALSE(one_node.indexed_exchange(many.owned, many.needed, sizeof(double)).shares_values())
      << "nothing crosses the network";
  const auto back = communicator.indexed_exchange(many.owned, many.needed, sizeof(double), {.reverse = true});
  EXPECT_EQ(back.adds_on_the_way(), size_of() >= first_with_two_readers_on_another_node) << back.explanation();
}

TEST(BoundGhostValues, AreReceivedInPlaceWhereTheyAreNeededInTheOrderOfArrival) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const Broadcasting all(1000);
  std::vector<double> ghosts(all.needed.size());
  IndexedOptions options{.strategy = "standard", .share = false};
  const auto unbound = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), options).buffer_bytes();
  options.ghost_values = ghosts.data();
  auto exchange = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), options);
  const auto spared = rank_of() == 0 ? 0 : std::ssize(ghosts) * Bytes{sizeof(double)};
  EXPECT_EQ(unbound - exchange.buffer_bytes(), spared);
  std::vector<double> other(ghosts);
  EXPECT_THROW(exchange.start_forward(ghosts.data(), other.data()), Error);
}

TEST(IndexedExchange, OutlivesItsCommunicatorAndMoves) {
  const Broadcasting all(10);
  auto exchange = [&] {
    Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
    return communicator.indexed_exchange(all.owned, all.needed, sizeof(double), {.strategy = "two-step"});
  }();
  std::vector<double> owned(rank_of() == 0 ? 10 : 0, 4.5), ghosts(10);
  auto moved = std::move(exchange);
  moved.start_forward(owned.data(), ghosts.data());
  EXPECT_THROW(moved.start_forward(owned.data(), ghosts.data()), Error);
  moved.wait();
  EXPECT_EQ(ghosts, std::vector<double>(10, 4.5));
  moved.start_forward(owned.data(), ghosts.data());  // and is destroyed in flight
}

// What the other ranks ask for says nothing: all must plan the same.
TEST(IndexedExchange, TakesItsOptionsFromRankZero) {
  const auto layout = Layout::with_ppn(size_of(), 2);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  const Broadcasting all(1000);
  const bool is_first = rank_of() == 0;
  std::vector<double> owned(is_first ? all.needed.size() : 0, 2.5), ghosts(all.needed.size(), 1);
  for (const bool of_first : {true, false}) {
    SCOPED_TRACE(of_first);
    const bool mine = is_first == of_first;
    auto exchange = communicator.indexed_exchange(all.owned, all.needed, sizeof(double),
                                                  {.strategy = "two-step", .reverse = mine, .share = mine});
    EXPECT_EQ(exchange.shares_values(), of_first && size_of() > 2);
    exchange.forward(owned.data(), ghosts.data());
    EXPECT_EQ(ghosts, std::vector<double>(ghosts.size(), 2.5));
    std::ranges::fill(ghosts, 1.0);
    if (of_first) {
      std::vector<double> sums(owned.size(), 0);
      exchange.reverse_add(ghosts.data(), sums.data());
      EXPECT_EQ(sums, std::vector<double>(sums.size(), size_of()));
    } else {
      EXPECT_THROW(exchange.reverse_add(ghosts.data(), owned.data()), Error);
    }
  }
}

TEST(IndexedExchange, TakesTheOptionsOfItsSumsFromRankZero) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const Broadcasting all(1000);
  const bool is_first = rank_of() == 0;
  const std::vector<double> ghosts(all.needed.size(), 1);
  for (const bool of_first : {true, false}) {
    SCOPED_TRACE(of_first);
    const bool mine = is_first == of_first;
    auto exchange = communicator.indexed_exchange(all.owned, all.needed, sizeof(double),
                                                  {.strategy = "two-step",
                                                   .forward = !mine,
                                                   .reverse = true,
                                                   .overwrite = mine,
                                                   .share = true,
                                                   .deterministic = mine});
    EXPECT_EQ(exchange.adds_on_the_way(), !of_first && size_of() > 2);
    std::vector<double> sums(is_first ? all.needed.size() : 0, 100);
    exchange.reverse_add(ghosts.data(), sums.data());
    EXPECT_EQ(sums, std::vector<double>(sums.size(), size_of() + (of_first ? 0 : 100)));
    std::vector<double> there(all.needed.size());
    if (of_first) EXPECT_THROW(exchange.forward(sums.data(), there.data()), Error);
    else EXPECT_NO_THROW(exchange.forward(sums.data(), there.data()));
  }
  EXPECT_EQ(common_error([&] {
              (void)communicator.indexed_exchange(all.owned, all.needed, sizeof(double), {.forward = false});
            }),
            "rank 0: indexed exchange: neither direction is planned; set forward or reverse.");
}

TEST(IndexedExchange, RefusesAWayBackThatWasNotPlannedOrNumbersThatDoNotFit) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const Broadcasting all(10);
  std::vector<double> owned(10), ghosts(10);
  auto forward_only = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), {.strategy = "standard"});
  EXPECT_THROW(forward_only.reverse_add(ghosts.data(), owned.data()), Error);
  auto of_floats =
      communicator.indexed_exchange(all.owned, all.needed, sizeof(float), {.strategy = "standard", .reverse = true});
  EXPECT_THROW(of_floats.reverse_add(ghosts.data(), owned.data()), Error);
}

TEST(WrongIndices, AreOneSentenceOnAllRanks) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const Rank last = size_of() - 1;
  const bool is_last = rank_of() == last;
  const auto error = [&](const OwnedBy& owned, const std::vector<Index>& needed, Bytes value_bytes = 8) {
    return common_error([&] { communicator.indexed_exchange(owned, needed, value_bytes); });
  };
  // Rank r owns 10r … 10r+9, as a range and as a list.
  const IndexRange range{10 * rank_of(), 10 * rank_of() + 10};
  std::vector<Index> list(10);
  std::iota(list.begin(), list.end(), range.begin);
  const auto beyond = 10 * Index{size_of()};
  for (const OwnedBy& owned : {OwnedBy(range), OwnedBy(list)}) {
    for (const Index index : {beyond, beyond + (Index{1} << 50), Index{-1}}) {
      const auto message = error(owned, is_last ? std::vector<Index>{3, index} : std::vector<Index>{3});
      EXPECT_NE(message.find("index " + std::to_string(index) + ": rank " + std::to_string(last) +
                             " needs it and no rank owns it"),
                std::string::npos)
          << message;
    }
    EXPECT_EQ(error(owned, {0, beyond - 1}), "") << "the communicator works on";
    EXPECT_NE(error(owned, {}, 0).find("a value has 0 bytes"), std::string::npos);
    const auto message = error(owned, {}, is_last ? 24 : 8);
    EXPECT_TRUE(last == 0 ||
                message.find("rank " + std::to_string(last) +
                             ": indexed exchange: a value has 24 bytes, and 8 on rank 0") != std::string::npos)
        << message;
  }
  auto twice = list;
  if (is_last) twice.push_back(list[4]);
  auto message = error(twice, {});
  EXPECT_NE(message.find("rank " + std::to_string(last) + ": indexed exchange, index " + std::to_string(10 * last + 4) +
                         ": a rank lists it twice"),
            std::string::npos)
      << message;
  if (is_last) twice.back() = -5;
  message = error(twice, {});
  EXPECT_NE(message.find("index -5: it is negative"), std::string::npos) << message;
  message = error(is_last ? IndexRange{7, 5} : IndexRange{}, {});
  EXPECT_NE(message.find("the range from 7 to before 5"), std::string::npos) << message;
  if (last == 0) return;
  const auto both = "ranks 0 and " + std::to_string(last) + " both own it";
  if (is_last) list.push_back(9);
  message = error(list, {});
  EXPECT_NE(message.find("index 9: " + both), std::string::npos) << message;
  message = error(rank_of() == 0 ? OwnedBy(IndexRange{0, 10}) : OwnedBy(list), {});
  EXPECT_NE(message.find("index 9: " + both), std::string::npos) << message;
  message = error(is_last ? IndexRange{9, 10} : rank_of() == 0 ? range : IndexRange{}, {});
  EXPECT_NE(message.find("index 9: " + both), std::string::npos) << message;
}

}  // namespace
}  // namespace commpass
