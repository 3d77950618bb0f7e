// Every strategy against the naive exchange, on the ranks that mpirun gives.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/communicator.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/library_requests.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/plan/planning.hpp"
#include "runtime/world.hpp"
#include "selector/choose/select.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::rank_of;
using test::size_of;
using test::some_machine;

using test::LocalExchange;

/// The suggestions of the catalogue, also with the narrowest and an unlimited window if they take one; dims with
/// virtual ranks, small chunks, and staggered messages.
std::vector<Strategy> strategies_for(const Layout& layout) {
  std::vector<Strategy> result;
  for (auto strategy : suggest_strategies(layout)) {
    for (const int rounds : {strategy.window.rounds, 0, 1}) {
      strategy.window = {rounds};
      if (!catalogue_row(strategy.route).malformed(strategy).empty()) continue;
      if (std::ranges::find(result, strategy) == result.end()) result.push_back(strategy);
    }
  }
  for (const auto* text : {"stfw,dims=3x2x5x7", "two-step", "local-then-node,window=2", "three-step", "split,cap=100",
                           "split,cap=3000,staggered", "two-step,node=3x2x7", "local-then-node,node=2x2x5",
                           "standard,staggered", "two-step,window=1,staggered", "stfw,dims=3x2x5x7,window=2,staggered",
                           "stfw,dims=3x2x5x7,placed", "stfw,dims=2x2x2x2x2,placed,window=1"})
    result.push_back(parse_strategy(text));
  if (layout.ranks() == layout.nodes() * layout.max_ppn())  // several local digits need even nodes
    for (const auto* text : {"two-step,local=2x3x5,node=3x2x7", "local-then-node,local=3x2x5"})
      result.push_back(parse_strategy(text));
  return result;
}

class EveryStrategy : public testing::TestWithParam<unsigned> {};

TEST_P(EveryStrategy, DeliversWhatTheNaiveExchangeDelivers) {
  const unsigned seed = GetParam() * 1000 + static_cast<unsigned>(size_of());
  const auto layout = test::random_layout(size_of(), seed);
  auto pattern = test::random_pattern(size_of(), seed + 1);
  if (GetParam() % 3 > 0) pattern = test::with_shared_payloads(pattern, seed);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  for (const auto& strategy : strategies_for(layout)) {
    const auto text = to_string(strategy);
    SCOPED_TRACE(text + ", " + layout.describe() + ", seed " + std::to_string(seed));
    auto local = test::local_part(pattern, rank_of(), GetParam() % 2 == 0 ? 3 : 0, seed);
    auto exchange = test::plan_local(communicator, local, {text});
    EXPECT_EQ(exchange.strategy(), text);
    for (unsigned turn = 0; turn < 2; ++turn) {
      ASSERT_TRUE(test::delivers(exchange, local, turn));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, EveryStrategy, testing::Range(0U, 12U));

TEST(NeighborExchange, ChoosesTheSameOnEveryRankAndSaysWhy) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  auto local = test::local_part(test::all_to_all(size_of(), 8), rank_of(), 0, 1);
  auto exchange = test::plan_local(communicator, local);
  EXPECT_TRUE(exchange.predicted_seconds().has_value());
  EXPECT_NE(exchange.explanation().find(exchange.strategy()), std::string::npos);
  std::vector<char> first(exchange.strategy().begin(), exchange.strategy().end());
  first.resize(100);
  auto mine = first;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(mine, first);
  EXPECT_TRUE(test::delivers(exchange, local, 7));
}

TEST(NeighborExchange, TestCompletesItToo) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  auto local = test::local_part(test::all_to_all(size_of(), 100), rank_of(), 0, 1);
  for (const char* strategy : {size_of() > 1 ? "tuna,radix=2" : "standard", "mpi"}) {
    auto exchange = test::plan_local(communicator, local, {strategy});
    test::fill(local, rank_of(), 1);
    const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
    EXPECT_TRUE(exchange.test()) << "nothing is in flight";
    exchange.start();
    while (!exchange.test()) std::this_thread::yield();
    EXPECT_EQ(local.receive_buffer, expected) << strategy;
    std::ranges::fill(local.receive_buffer, std::byte{0});
  }
}

TEST(NeighborExchange, SeveralInFlightDoNotMixWithEachOtherNorWithTheUsersMessages) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 3)});
  std::vector<LocalExchange> locals;
  std::vector<Exchange> exchanges;
  const std::vector<std::string> names{"standard",        "mpi",          "two-step", "stfw,n=1", "mpi",
                                       "local-then-node", "split,cap=50", "mpi"};
  for (std::size_t i = 0; i < names.size(); ++i)
    locals.push_back(test::local_part(test::random_pattern(size_of(), 50 + static_cast<unsigned>(i)), rank_of(), 2, 9));
  for (std::size_t i = 0; i < names.size(); ++i)
    exchanges.push_back(test::plan_local(communicator, locals[i], {names[i]}));
  for (unsigned turn = 0; turn < 3; ++turn) {
    std::vector<std::vector<std::byte>> expected;
    for (auto& local : locals) {
      test::fill(local, rank_of(), turn);
      expected.push_back(test::naive_exchange(local, MPI_COMM_WORLD));
    }
    for (auto& exchange : exchanges) exchange.start();
    // The user receives with wildcards on the user's communicator, while ours are in flight.
    int token = rank_of(), got = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&token, 1, MPI_INT, (rank_of() + 1) % size_of(), 1, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(got, (rank_of() + size_of() - 1) % size_of());
    // Ranks complete them in different orders.
    for (std::size_t i = 0; i < exchanges.size(); ++i)
      exchanges[(i + static_cast<std::size_t>(rank_of())) % exchanges.size()].test();
    for (auto& exchange : exchanges) exchange.wait();
    for (std::size_t i = 0; i < locals.size(); ++i) EXPECT_EQ(locals[i].receive_buffer, expected[i]) << names[i];
    MPI_Barrier(MPI_COMM_WORLD);  // or the oracle's messages of the next turn meet the user's wildcard
  }
}

// MPI_Neighbor_alltoallw of MPICH 4.0 does not deliver where ranks have neighbours on one side only.
TEST(NeighborExchange, DeliversWhereSomeRanksOnlySendAndOthersOnlyReceive) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  Pattern to_last{size_of(), {}}, from_first{size_of(), {}};
  for (Rank rank = 0; rank < size_of(); ++rank) {
    to_last.edges.push_back({rank, size_of() - 1, 100 + rank});
    from_first.edges.push_back({0, rank, 100 + rank});
  }
  for (const auto& pattern :
       {to_last, from_first, Pattern{size_of(), {{0, size_of() - 1, 12}}}, Pattern{size_of(), {}}}) {
    auto local = test::local_part(pattern, rank_of(), 0, 1);
    auto exchange = test::plan_local(communicator, local, {"mpi"});
    EXPECT_TRUE(test::delivers(exchange, local, 5));
  }
}

TEST(NeighborExchange, WorksOnASubcommunicatorAndOutlivesItsCommunicator) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of() % 2, -rank_of(), &half);
  auto local = test::local_part(test::all_to_all(size_of(half), 40), rank_of(half), 1, 4);
  auto exchange = [&] {
    Communicator communicator(half, some_machine());
    return test::plan_local(communicator, local, {"standard,window=1"});
  }();
  test::fill(local, rank_of(half), 3);
  const auto expected = test::naive_exchange(local, half);
  exchange.start();
  exchange.wait();
  EXPECT_EQ(local.receive_buffer, expected);
  MPI_Comm_free(&half);
}

TEST(NeighborExchange, CompletesWhenItIsDestroyedInFlight) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  auto local = test::local_part(test::all_to_all(size_of(), 3000), rank_of(), 0, 4);
  for (const char* strategy : {"two-step", "mpi"}) {
    test::fill(local, rank_of(), 2);
    const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
    std::ranges::fill(local.receive_buffer, std::byte{0});
    try {
      auto exchange = test::plan_local(communicator, local, {strategy});
      exchange.start();
      throw std::runtime_error("the application failed");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(local.receive_buffer, expected) << strategy;
    }
  }
}

TEST(NeighborExchange, KnowsWhichBytesAreTheSame) {
  const auto layout = Layout::with_ppn(size_of(), 2);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  const auto alone = test::all_to_all(size_of(), 100000);
  auto shared = alone;
  for (auto& edge : shared.edges) edge.payload = 0;
  const auto predicted = [&](const Pattern& pattern) {
    auto local = test::local_part(pattern, rank_of(), 0, 1);
    return communicator
        .neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(), local.receives)
        .predicted_seconds()
        .value();
  };
  const auto priced = [&](const Pattern& pattern) {
    return rank_strategies(pattern, layout, some_machine()).front().cost.seconds;
  };
  EXPECT_EQ(predicted(alone), priced(alone));
  EXPECT_EQ(predicted(shared), priced(shared));
  if (size_of() < 4 || size_of() % 2 != 0) return;  // a rank alone on its node receives all blocks
  EXPECT_LT(priced(shared), priced(alone)) << "each block crosses the network once for two ranks";
}

TEST(PlanningOfNeighbors, FailsOnAllRanksIfItFailsOnOne) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const int last = size_of() - 1;
  const bool is_last = rank_of() == last;
  std::vector<std::byte> buffer(100), other(100);
  const auto plan = [&](std::vector<SendEdge> sends, std::vector<ReceiveEdge> receives, const std::string& strategy) {
    return common_error(
        [&] { communicator.neighbor_exchange(buffer.data(), sends, other.data(), receives, {strategy}); });
  };
  for (const char* strategy : {"standard", "mpi", "two-step", "split,cap=3", "three-step,staggered", ""}) {
    std::vector<SendEdge> sends;
    if (is_last) sends = {{size_of(), 0, 4}};
    auto message = plan(sends, {}, strategy);
    EXPECT_NE(message.find("out of range"), std::string::npos) << message;
    if (is_last) sends = {{0, 0, -4}};
    message = plan(sends, {}, strategy);
    EXPECT_NE(message.find("-4 bytes"), std::string::npos) << message;
    if (is_last) sends = {{0, 0, 4}};
    message = plan(sends, {}, strategy);
    EXPECT_NE(message.find("does not expect"), std::string::npos) << message;
    std::vector<ReceiveEdge> receives;
    if (rank_of() == 0) receives = {{last, 0, 5}};
    message = plan(sends, receives, strategy);
    EXPECT_NE(message.find("expects 5 bytes from rank"), std::string::npos) << message;
    message = plan({}, receives, strategy);
    EXPECT_NE(message.find("which sends no such block"), std::string::npos) << message;
  }
  EXPECT_NE(plan({}, {}, "no-such").find("none of that name"), std::string::npos);
  EXPECT_NE(plan({}, {}, "tuna,radix=1").find("radix=1 is out of range"), std::string::npos);
  EXPECT_NE(plan({}, {}, "stfw,n=20").find("does not apply"), std::string::npos);
  EXPECT_EQ(plan({}, {}, "standard"), "") << "the communicator works on";
}

TEST(PlanningOfNeighbors, TakesTheStrategyOfRankZeroWhateverOthersName) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  auto local = test::local_part(test::random_pattern(size_of(), 3), rank_of(), 1, 1);
  for (const std::string of_root : {"standard", "two-step", "three-step", ""})
    for (const std::string of_others : {"standard", "standard,window=1", "two-step", "three-step", "no-such", ""}) {
      auto exchange = test::plan_local(communicator, local, {rank_of() == 0 ? of_root : of_others});
      EXPECT_TRUE(of_root.empty() || exchange.strategy() == of_root) << of_root << " and " << of_others;
      ASSERT_TRUE(test::delivers(exchange, local)) << of_root << " and " << of_others;
    }
  EXPECT_NE(common_error([&] {
              communicator.neighbor_exchange(nullptr, {}, nullptr, {}, {rank_of() == 0 ? "no-such" : "standard"});
            }).find("rank 0: "),
            std::string::npos)
      << "all try what rank 0 names";
}

// The receiver does not know that their bytes are the same.
TEST(PlanningOfNeighbors, OfBlocksWithTheSameBytesForOneRankGivesThatRankBoth) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const Rank next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
  const int sent = 100 + rank_of();
  constexpr Bytes bytes = sizeof sent;
  std::vector<int> received(2, -1);
  for (const char* strategy : {"standard", "standard,window=1", "mpi"}) {
    auto exchange = communicator.neighbor_exchange(
        &sent, std::vector<SendEdge>{{next, 0, bytes}, {next, 0, bytes}}, received.data(),
        std::vector<ReceiveEdge>{{previous, 0, bytes}, {previous, bytes, bytes}}, {strategy});
    exchange.start();
    exchange.wait();
    EXPECT_EQ(received, std::vector<int>(2, 100 + previous)) << strategy;
  }
}

TEST(PlanningOfNeighbors, ANullBufferWithEdgesIsAnError) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const std::vector<SendEdge> sends{{rank_of(), 0, 4}};
  const std::vector<ReceiveEdge> receives{{rank_of(), 0, 4}};
  EXPECT_NE(common_error([&] {
              communicator.neighbor_exchange(nullptr, sends, nullptr, receives, {"standard"});
            }).find("null"),
            std::string::npos);
}

TEST(CommunicatorCreation, FailsOnAllRanksForABadProfileOrLayout) {
  EXPECT_NE(common_error([] { Communicator(MPI_COMM_WORLD, std::string("no-such-profile")); }).find("no-such-profile"),
            std::string::npos);
  const auto layout = Layout::with_ppn(size_of() + 1, 2);
  EXPECT_NE(common_error([&] {
              Communicator(MPI_COMM_WORLD, some_machine(), {layout});
            }).find(std::to_string(size_of()) + " are needed"),
            std::string::npos);
}

TEST(CommunicatorCreation, ReadsTheProfileOnRankZero) {
  const Communicator communicator(MPI_COMM_WORLD, std::string("lassen"));
  EXPECT_EQ(communicator.machine().name, "lassen");
  EXPECT_EQ(communicator.layout().ranks(), size_of());
}

TEST(Starting, TwiceIsAnError) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  auto local = test::local_part(test::all_to_all(size_of(), 8), rank_of(), 0, 1);
  if (size_of() == 1) return;  // a single rank has finished when start returns
  for (const char* strategy : {"standard", "mpi"}) {
    auto exchange = test::plan_local(communicator, local, {strategy});
    exchange.start();
    EXPECT_THROW(exchange.start(), Error) << strategy;
    exchange.wait();
    exchange.wait();  // nothing is in flight: returns at once
  }
}

class ManyMessagesOfAPair : public testing::TestWithParam<Bytes> {};

// More than there are tags to tell them apart, of different sizes, to the next rank and the one after that; some have
// new requests.
TEST_P(ManyMessagesOfAPair, MatchInTheirOrder) {
  auto machine = some_machine();
  if (GetParam() > 0) machine.operations.new_send_bytes = GetParam();
  Communicator communicator(MPI_COMM_WORLD, machine);
  Pattern pattern{size_of(), {}};
  for (Rank rank = 0; rank < size_of(); ++rank)
    for (int i = 0; i < 3 * tags_per_exchange; ++i)
      for (const int step : {1, 2}) pattern.edges.push_back({rank, (rank + step) % size_of(), 1 + i * 7 % 40});
  auto local = test::local_part(pattern, rank_of(), 3, 1);
  // Two at once, of which the second is completed first.
  auto first = test::plan_local(communicator, local, {"standard,staggered"});
  auto other = local;
  auto second = test::plan_local(communicator, other, {"standard,staggered"});
  test::fill(local, rank_of(), 1);
  test::fill(other, rank_of(), 2);
  const auto expected = test::naive_exchange(local, MPI_COMM_WORLD),
             other_expected = test::naive_exchange(other, MPI_COMM_WORLD);
  first.start();
  second.start();
  second.wait();
  first.wait();
  EXPECT_EQ(local.receive_buffer, expected);
  EXPECT_EQ(other.receive_buffer, other_expected);
}

INSTANTIATE_TEST_SUITE_P(NewUpTo, ManyMessagesOfAPair, testing::Values(0, 5, 20, 40));

// A small limit takes the code path of messages of more than 2³¹ − 1 bytes.
TEST(LargeMessages, UseADerivedDatatype) {
  const auto layout = Layout::with_ppn(size_of(), 2);
  const auto pattern = test::all_to_all(size_of(), 1000);
  for (const char* text : {"standard", "two-step"}) {
    auto local = test::local_part(pattern, rank_of(), 0, 1);
    const auto strategy = parse_strategy(text);
    const auto route = make_route(strategy, layout);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    {
      const auto plan = make_plan(comm, *route, strategy.window, local.sends, local.receives);
      for (const Bytes largest_count : {1, 7, 500, 999, 1000}) {
        const test::LargestCount lowered(largest_count);
        Executor executor(
            std::make_unique<PersistentRequests>(plan, comm, 1, local.send_buffer.data(), local.receive_buffer.data()));
        EXPECT_TRUE(test::delivers(executor, local)) << text << ", " << largest_count;
        if (route->stages().size() > 1) continue;
        auto by_library_requests =
            std::make_unique<LibraryRequests>(plan, local.send_buffer.data(), local.receive_buffer.data());
        by_library_requests->connect(comm);
        Executor by_library(std::move(by_library_requests));
        EXPECT_TRUE(test::delivers(by_library, local)) << "by the library, " << largest_count;
      }
    }
    MPI_Comm_free(&comm);
  }
}

}  // namespace
}  // namespace commpass
