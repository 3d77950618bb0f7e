// Sparse dynamic data exchanges: every strategy against what the whole pattern says must come.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "model/base/error.hpp"
#include "model/route/sparse_strategy.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/sparse/probed_mail.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::rank_of;
using test::size_of;
using test::some_machine;

/// The messages of each rank: known to all ranks here, and so the expected arrivals.
struct Traffic {
  Pattern pattern;
  unsigned turn = 0;

  static std::byte value(const Edge& edge, std::int64_t number, unsigned turn, Bytes position) {
    return static_cast<std::byte>(edge.source * 31 + edge.destination * 17 + number * 7 +
                                  static_cast<std::int64_t>(turn) * 5 + position * 3);
  }

  using Message = std::vector<std::byte>;
  /// By source, in order: the expected arrivals at a rank.
  std::vector<std::pair<Rank, Message>> expected(Rank rank) const {
    std::vector<std::pair<Rank, Message>> result;
    std::map<std::pair<Rank, Rank>, std::int64_t> numbers;
    for (const auto& edge : pattern.edges) {
      const auto number = numbers[{edge.source, edge.destination}]++;
      if (edge.destination == rank) result.emplace_back(edge.source, message(edge, number));
    }
    std::ranges::stable_sort(result, {}, [](const auto& m) { return m.first; });
    return result;
  }
  /// What a rank sends, with its buffer.
  std::pair<std::vector<SendEdge>, Message> sends(Rank rank) const {
    std::vector<SendEdge> edges;
    Message buffer(3);  // not at the beginning
    std::map<Rank, std::int64_t> numbers;
    for (const auto& edge : pattern.edges) {
      if (edge.source != rank) continue;
      const auto bytes = message(edge, numbers[edge.destination]++);
      edges.push_back({edge.destination, std::ssize(buffer), edge.bytes});
      buffer.insert(buffer.end(), bytes.begin(), bytes.end());
    }
    return {edges, buffer};
  }

 private:
  Message message(const Edge& edge, std::int64_t number) const {
    Message bytes;
    for (Bytes position = 0; position < edge.bytes; ++position) bytes.push_back(value(edge, number, turn, position));
    return bytes;
  }
};

std::vector<std::pair<Rank, Traffic::Message>> plain(const ReceivedMessages& received) {
  std::vector<std::pair<Rank, Traffic::Message>> result;
  for (const auto& message : received)
    result.emplace_back(message.source, Traffic::Message(message.bytes.begin(), message.bytes.end()));
  return result;
}

/// Random messages of random or of one size; to each rank at most one if `distinct`.
Pattern random_sparse(int ranks, unsigned seed, std::optional<Bytes> constant, bool distinct) {
  std::mt19937 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  const int most = distinct ? below(ranks + 1) : below(2 * ranks + 1);
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source) {
    std::vector<Rank> others(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) others[static_cast<std::size_t>(rank)] = rank;
    std::shuffle(others.begin(), others.end(), random);
    for (int i = below(most + 1); i > 0; --i) {
      const Rank destination = distinct ? others[static_cast<std::size_t>(i - 1)] : below(ranks);
      pattern.edges.push_back({source, destination, constant ? *constant : below(4) == 0 ? 0 : below(2000)});
    }
  }
  return pattern;
}

std::vector<SparseStrategy> strategies_of_sizes(const Layout& layout, bool constant_size) {
  auto result = suggest_sparse_strategies(layout, constant_size);
  for (const char* route : {"two-step", "two-step-socket", "local-then-node", "stfw,dims=3x2x5x7"})
    for (const auto& row : discoveries()) {
      if (row.constant_size_only) continue;
      const auto strategy = parse_sparse_strategy(std::string(route) + "+" + row.name);
      if (std::ranges::find(result, strategy) == result.end()) result.push_back(strategy);
    }
  return result;
}

class EverySparseStrategy : public testing::TestWithParam<unsigned> {};

TEST_P(EverySparseStrategy, DeliversTheSameMessagesAsThePatternHas) {
  const unsigned seed = GetParam() * 1000 + static_cast<unsigned>(size_of());
  const auto layout = test::random_layout(size_of(), seed);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  for (const bool constant : {false, true}) {
    const Bytes bytes = static_cast<Bytes>(seed * 8 % 56);
    for (const auto& strategy : strategies_of_sizes(layout, constant)) {
      const auto text = to_string(strategy);
      SCOPED_TRACE(text + ", " + layout.describe() + ", seed " + std::to_string(seed));
      for (unsigned turn = 0; turn < 2; ++turn) {
        const Traffic traffic{
            random_sparse(size_of(), seed + turn, constant ? std::optional(bytes) : std::nullopt, constant), turn};
        const auto [edges, buffer] = traffic.sends(rank_of());
        ReceivedMessages received;
        if (constant) {
          std::vector<Rank> destinations;
          for (const auto& edge : edges) destinations.push_back(edge.destination);
          received = communicator.sparse_alltoall(buffer.data() + 3, destinations, bytes, {text});
        } else {
          received = communicator.sparse_alltoallv(buffer.data(), edges, {text});
        }
        ASSERT_EQ(plain(received), traffic.expected(rank_of()));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, EverySparseStrategy, testing::Range(0U, 6U));

TEST(SparseExchange, ChoosesByItselfAndAdaptsToTheTraffic) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 3)});
  for (unsigned turn = 0; turn < 12; ++turn) {
    const Traffic traffic{
        random_sparse(size_of(), turn, turn % 3 == 0 ? std::optional<Bytes>(8) : std::nullopt, turn % 3 == 0), turn};
    const auto [edges, buffer] = traffic.sends(rank_of());
    ReceivedMessages received;
    if (turn % 3 == 0) {
      std::vector<Rank> destinations;
      for (const auto& edge : edges) destinations.push_back(edge.destination);
      received = communicator.sparse_alltoall(buffer.data() + 3, destinations, 8);
    } else if (turn % 3 == 1) {
      received = communicator.sparse_alltoallv(buffer.data(), edges);
    } else {
      received = communicator.sparse_alltoallv(buffer.data(), edges, {"", 3.5, 1000});
    }
    ASSERT_EQ(plain(received), traffic.expected(rank_of())) << turn;
  }
}

/// Where taking messages in is expensive, puts are cheapest, if they have a price.
Machine machine_for_puts(std::optional<Seconds> put_s) {
  auto machine = some_machine();
  for (auto& channel : machine.host.by_level)
    if (channel) channel->protocols.front().alpha_receive_s = 1e-3;
  machine.operations.probe_s = 0;
  machine.operations.put_s = put_s;
  return machine;
}

/// What a call without a named strategy runs, the same on every rank: a number from each rank to the next.
std::string chosen_strategy(Communicator& communicator, Bytes bytes) {
  const std::vector<std::byte> out(static_cast<std::size_t>(bytes), std::byte{7});
  const std::vector<Rank> destinations{(rank_of() + 1) % size_of()};
  auto exchange = communicator.start_sparse_alltoall(out.data(), destinations, bytes);
  const auto received = exchange.wait();
  EXPECT_EQ(received.size(), 1U);
  for (const auto& message : received) EXPECT_EQ(std::vector(message.bytes.begin(), message.bytes.end()), out);
  auto first = exchange.strategy();
  first.resize(100);
  const auto mine = first;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(mine, first);
  return exchange.strategy();
}

TEST(SparseExchange, DoesNotChooseStrategiesThatOnlyABlockingExchangeCanPrepare) {
  if (size_of() == 1) return;
  Communicator communicator(MPI_COMM_WORLD, machine_for_puts(0), {Layout::with_ppn(size_of(), 2)});
  EXPECT_NE(chosen_strategy(communicator, 8), "direct+rma") << "there is no window";
  const std::vector<Rank> destinations{(rank_of() + 1) % size_of()};
  const std::vector<std::byte> out(8, std::byte{7});
  for (int call = 0; call < 3; ++call)
    EXPECT_EQ(communicator.sparse_alltoall(out.data(), destinations, 8).size(), 1U);  // makes one
  for (const Bytes bytes : {8, 3, 9})
    EXPECT_NE(chosen_strategy(communicator, bytes), "direct+rma")
        << "whether its slots are large enough, only the senders know";
}

// Whether slots will do, only senders know, and all others do the same all the same.
TEST(SparseExchange, ThatHasChosenPutsDoesWithoutWhereTheyAreNoGood) {
  if (size_of() == 1) return;
  const std::vector<std::byte> out(16, std::byte{7});
  const Rank next = (rank_of() + 1) % size_of();
  Communicator communicator(MPI_COMM_WORLD, machine_for_puts(0), {Layout::with_ppn(size_of(), 2)});
  for (int call = 0; call < 3; ++call)
    EXPECT_EQ(communicator.sparse_alltoall(out.data(), std::vector<Rank>{next}, 8).size(), 1U);
  EXPECT_EQ(communicator.last_sparse_strategy(), "direct+rma");
  for (int call = 0; call < 2; ++call) {
    const std::vector<Rank> twice(rank_of() == 0 ? 2 : 1, next);
    EXPECT_EQ(communicator.sparse_alltoall(out.data(), twice, 8).size(), rank_of() == 1 ? 2U : 1U);
    EXPECT_NE(communicator.last_sparse_strategy(), "direct+rma");
  }
  EXPECT_EQ(communicator.sparse_alltoall(out.data(), std::vector<Rank>{next}, 8).size(), 1U);
}

TEST(SparseExchange, TellsWhatTheLastBlockingOneRan) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  EXPECT_EQ(communicator.last_sparse_strategy(), "");
  const std::vector<std::byte> out(8, std::byte{7});
  const std::vector<SendEdge> sends{{(rank_of() + 1) % size_of(), 0, 8}};
  auto in_flight = communicator.start_sparse_alltoallv(out.data(), sends, {"direct+reduce"});
  EXPECT_EQ(communicator.last_sparse_strategy(), "") << "a handle tells its own";
  EXPECT_EQ(in_flight.wait().size(), 1U);
  for (const char* strategy : {"direct+reduce", "stfw,n=1+dense", "direct+nbx"}) {
    EXPECT_EQ(communicator.sparse_alltoallv(out.data(), sends, {strategy}).size(), 1U);
    EXPECT_EQ(communicator.last_sparse_strategy(), strategy);
  }
}

TEST(SparseExchange, DoesNotChoosePutsThatHaveNoPrice) {
  if (size_of() == 1) return;
  Communicator communicator(MPI_COMM_WORLD, machine_for_puts(std::nullopt), {Layout::with_ppn(size_of(), 2)});
  const std::vector<Rank> destinations{(rank_of() + 1) % size_of()};
  const std::vector<std::byte> out(8, std::byte{7});
  for (int call = 0; call < 3; ++call) EXPECT_EQ(communicator.sparse_alltoall(out.data(), destinations, 8).size(), 1U);
  EXPECT_NE(chosen_strategy(communicator, 8), "direct+rma");
}

// Ranks complete exchanges in different orders and at different times; the next one is under way on some before others
// have finished the last.
TEST(SparseExchange, ManyInFlightWithDelaysMixNothingUp) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const std::vector<std::string> names{"direct+nbx",        "direct+reduce",         "two-step+nbx",
                                       "direct+allreduce",  "stfw,n=1+dense",        "direct+dense",
                                       "direct,shared+nbx", "two-step,shared+dense", ""};
  std::mt19937 random(static_cast<unsigned>(rank_of()));
  for (unsigned round = 0; round < 40; ++round) {
    struct Flight {
      Traffic traffic;
      std::pair<std::vector<SendEdge>, Traffic::Message> sends;
    };
    std::vector<Flight> flights;
    for (unsigned i = 0; i < 4; ++i) {
      Traffic traffic{random_sparse(size_of(), 100 * round + i, {}, false), round + i};
      auto sends = traffic.sends(rank_of());
      flights.push_back({std::move(traffic), std::move(sends)});
    }
    std::vector<SparseExchange> exchanges;
    for (unsigned i = 0; i < flights.size(); ++i) {
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      exchanges.push_back(communicator.start_sparse_alltoallv(flights[i].sends.second.data(), flights[i].sends.first,
                                                              {names[(round + i) % names.size()]}));
    }
    // The application's own messages, with wildcards.
    int token = rank_of(), got = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&token, 1, MPI_INT, (rank_of() + 1) % size_of(), 1, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(got, (rank_of() + size_of() - 1) % size_of());
    std::vector<std::size_t> order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random);
    exchanges[order[0]].test();
    for (const auto i : order)
      ASSERT_EQ(plain(exchanges[i].wait()), flights[i].traffic.expected(rank_of()))
          << round << " " << i << " " << exchanges[i].strategy();
    MPI_Barrier(MPI_COMM_WORLD);  // or the tokens of the next round meet the wildcards of this one
  }
}

TEST(SparseExchange, OneAfterAnotherWithoutSynchronisationLosesNothing) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 3)});
  std::mt19937 random(static_cast<unsigned>(rank_of()) + 9);
  const int repetitions = size_of() <= 4 ? 1000 : 100;  // more ranks than cores take turns
  for (int turn = 0; turn < repetitions; ++turn) {
    const Traffic traffic{random_sparse(size_of(), static_cast<unsigned>(turn), std::optional<Bytes>(16), true),
                          static_cast<unsigned>(turn)};
    const auto [edges, buffer] = traffic.sends(rank_of());
    if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    std::vector<Rank> destinations;
    for (const auto& edge : edges) destinations.push_back(edge.destination);
    const std::vector<std::string> names{
        "direct+nbx",      "direct+rma",        "direct+reduce", "",
        "two-step+reduce", "direct,shared+nbx", "direct+dense",  "two-step,shared+nbx"};
    ASSERT_EQ(plain(communicator.sparse_alltoall(buffer.data() + 3, destinations, 16,
                                                 {names[static_cast<std::size_t>(turn) % names.size()]})),
              traffic.expected(rank_of()))
        << turn;
  }
}

TEST(SparseExchange, FailsOnAllRanksIfItFailsOnOne) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const bool is_last = rank_of() == size_of() - 1;
  std::vector<std::byte> buffer(100);
  for (const char* strategy :
       {"direct+nbx", "direct+reduce", "direct+allreduce", "direct+dense", "two-step+nbx", "direct,shared+nbx",
        "direct,shared+dense", "two-step,shared+reduce", "two-step+dense", "stfw,n=1+reduce", ""}) {
    const auto fail = [&](const SendEdge& edge) {
      const std::vector<SendEdge> edges(is_last ? 1 : 0, edge);
      return common_error([&] { communicator.sparse_alltoallv(buffer.data(), edges, {strategy}); });
    };
    EXPECT_NE(fail({size_of(), 0, 4}).find("out of range"), std::string::npos) << strategy;
    EXPECT_NE(fail({0, 0, -1}).find("-1 bytes"), std::string::npos) << strategy;
    EXPECT_EQ(fail({0, 0, 4}), "") << "the communicator works on";
  }
  const std::vector<Rank> twice(is_last ? 2 : 0, 0);
  EXPECT_NE(common_error([&] {
              communicator.sparse_alltoall(buffer.data(), twice, 4, {"direct+rma"});
            }).find("several messages"),
            std::string::npos);
  EXPECT_NE(
      common_error([&] { communicator.sparse_alltoallv(buffer.data(), {}, {"direct+rma"}); }).find("different sizes"),
      std::string::npos);
  EXPECT_NE(common_error([&] {
              communicator.sparse_alltoallv(buffer.data(), {}, {"direct+telepathy"});
            }).find("no discovery"),
            std::string::npos);
  EXPECT_NE(common_error([&] {
              communicator.sparse_alltoallv(buffer.data(), {}, {"split,cap=1KiB+nbx"});
            }).find("whole pattern"),
            std::string::npos);
}

// A window has two slots for each pair of ranks: with several exchanges in flight one must not read or overwrite those
// of another.
TEST(SparseExchange, SeveralInFlightByRmaMixNothingUp) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  constexpr Bytes bytes = 24;
  std::mt19937 random(static_cast<unsigned>(rank_of()));
  communicator.sparse_alltoall(nullptr, {}, bytes,
                               {"direct+rma"});  // makes the window, for which no rank has a message
  communicator.sparse_alltoall(std::vector<std::byte>(bytes).data(), std::vector<Rank>(rank_of() == 0 ? 1 : 0), bytes,
                               {"direct+rma"});
  for (unsigned round = 0; round < 30; ++round) {
    const std::size_t count = 1 + round % 5;
    std::vector<Traffic> traffic;
    std::vector<std::pair<std::vector<SendEdge>, Traffic::Message>> sends;
    std::vector<SparseExchange> exchanges;
    for (unsigned i = 0; i < count; ++i) {
      traffic.push_back({random_sparse(size_of(), 100 * round + i, bytes, true), round + i});
      sends.push_back(traffic.back().sends(rank_of()));
    }
    for (unsigned i = 0; i < count; ++i) {
      std::vector<Rank> destinations;
      for (const auto& edge : sends[i].first) destinations.push_back(edge.destination);
      exchanges.push_back(communicator.start_sparse_alltoall(sends[i].second.data() + 3, destinations, bytes,
                                                             {i % 4 == 3 ? "direct+nbx" : "direct+rma"}));
    }
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (const auto i : order)
      ASSERT_EQ(plain(exchanges[i].wait()), traffic[i].expected(rank_of())) << "round " << round << ", exchange " << i;
  }
}

TEST(SparseExchange, ByRmaMakesALargerWindowWhenMessagesGrow) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  for (const Bytes bytes : {8, 9, 1000, 3, 0, 100000}) {
    const Traffic traffic{random_sparse(size_of(), static_cast<unsigned>(bytes), bytes, true), 1};
    const auto [edges, buffer] = traffic.sends(rank_of());
    std::vector<Rank> destinations;
    for (const auto& edge : edges) destinations.push_back(edge.destination);
    ASSERT_EQ(plain(communicator.sparse_alltoall(buffer.data() + 3, destinations, bytes, {"direct+rma"})),
              traffic.expected(rank_of()))
        << bytes;
  }
}

// The ranks may differ by mistake, before there is a window, with one, and where one would have to grow; also in the
// first choice.
TEST(SparseExchange, OfOneSizeIsRefusedWhereSizesDiffer) {
  if (size_of() == 1) return;
  const std::vector<std::byte> buffer(1000);
  for (const std::string strategy : {"direct+rma", "direct+nbx", ""}) {
    Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
    const std::vector<Rank> next{(rank_of() + 1) % size_of()};
    const auto error_with = [&](Bytes mine, Bytes others) {
      return common_error(
          [&] { communicator.sparse_alltoall(buffer.data(), next, rank_of() == 0 ? mine : others, {strategy}); });
    };
    EXPECT_NE(error_with(16, 8).find("8 bytes on one rank and 16 on another"), std::string::npos) << strategy;
    EXPECT_EQ(error_with(8, 8), "") << strategy;
    if (strategy.empty()) continue;  // the next choice may tell no sizes
    EXPECT_NE(error_with(4, 8).find("4 bytes on one rank and 8 on another"), std::string::npos) << strategy;
    EXPECT_NE(error_with(8, 500).find("8 bytes on one rank and 500 on another"), std::string::npos) << strategy;
    EXPECT_EQ(error_with(500, 500), "") << strategy;
  }
  // Where the ranks tell each other no sizes, a receiver finds out.
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  for (const std::string strategy : {"direct+reduce", "two-step+nbx", "direct+dense"}) {
    const std::vector<Rank> next{(rank_of() + 1) % size_of()};
    std::string message;
    try {
      communicator.sparse_alltoall(buffer.data(), next, rank_of() == 0 ? 16 : 8, {strategy});
    } catch (const InputError& error) {
      message = error.what();
    }
    const bool sees_it = rank_of() == 0 || rank_of() == 1;
    EXPECT_EQ(message.find("messages should have") != std::string::npos, sees_it) << strategy << ": " << message;
  }
}

// Nothing that ranks do together is left to wait(): they may come to it in any order, or never.
TEST(SparseExchange, FailuresAreToldInAnyOrderOfCompletion) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const std::vector<std::byte> buffer(100);
  const bool is_last = rank_of() == size_of() - 1;
  for (const std::string strategy :
       {"direct+nbx", "direct+reduce", "direct+allreduce", "direct+dense", "two-step+nbx", "stfw,n=1+dense"}) {
    const std::vector<SendEdge> far(is_last ? 1 : 0, SendEdge{size_of() + 5, 0, 4}),
        small(rank_of() == 0 ? 1 : 0, SendEdge{0, 0, -7});
    for (const bool dropped : {false, true}) {
      std::optional<SparseExchange> first = communicator.start_sparse_alltoallv(buffer.data(), far, {strategy});
      std::optional<SparseExchange> second = communicator.start_sparse_alltoallv(buffer.data(), small, {strategy});
      std::string first_error, second_error;
      const auto wait = [](std::optional<SparseExchange>& exchange, std::string& message) {
        try {
          exchange->wait();
        } catch (const Error& error) {
          message = error.what();
        }
      };
      if (dropped && rank_of() == 0) first.reset();
      if (rank_of() % 2 == 0) wait(second, second_error);
      if (first) wait(first, first_error);
      if (rank_of() % 2 == 1) wait(second, second_error);
      const auto of_last = "rank " + std::to_string(size_of() - 1) + ": sparse exchange, message 0 of rank " +
                           std::to_string(size_of() - 1) + ": rank " + std::to_string(size_of() + 5) +
                           " is out of range";
      EXPECT_TRUE(!first || first_error.find(of_last) != std::string::npos) << strategy << ": " << first_error;
      EXPECT_NE(second_error.find("rank 0: sparse exchange, message 0 of rank 0: it has -7 bytes"), std::string::npos)
          << strategy << ": " << second_error;
    }
    EXPECT_EQ(communicator.sparse_alltoallv(buffer.data(), {}, {strategy}).size(), 0U) << "the communicator works on";
  }
}

TEST(SparseExchange, OfSeveralFailuresTheLowestRanksIsTold) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const std::vector<SendEdge> bad{{-1 - rank_of(), 0, 4}};
  const std::vector<std::byte> buffer(4);
  EXPECT_NE(common_error([&] {
              communicator.sparse_alltoallv(buffer.data(), bad, {"direct+nbx"});
            }).find("rank 0: sparse exchange, message 0 of rank 0: rank -1 is"),
            std::string::npos);
}

TEST(SparseExchange, CompletesWhenItIsDestroyedInFlightAndOutlivesItsCommunicator) {
  const std::vector<SendEdge> edges{{(rank_of() + 1) % size_of(), 0, 4}};
  const std::vector<std::byte> buffer(4, std::byte{7});
  std::optional<SparseExchange> exchange;
  {
    Communicator communicator(MPI_COMM_WORLD, some_machine());
    exchange.emplace(communicator.start_sparse_alltoallv(buffer.data(), edges, {"direct+nbx"}));
    const auto dropped = communicator.start_sparse_alltoallv(buffer.data(), edges, {"direct+reduce"});
  }
  const auto received = exchange->wait();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].bytes.size(), 4U);
  EXPECT_THROW(exchange->wait(), Error);
}

// A parcel beyond the largest piece takes the same way with small pieces as with those of 2³⁰ bytes.
TEST(ProbedMail, PutsParcelsOfSeveralPiecesTogether) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (const Bytes largest : {1, 3, 4, 100}) {
    ProbedMail mail(comm, 5, largest);
    std::vector<std::vector<std::byte>> parcels;
    std::int64_t pieces = 0;
    for (std::size_t size : {0U, 1U, 3U, 4U, 12U, 13U, 99U})
      for (Rank peer = 0; peer < size_of(); ++peer) {
        auto& parcel = parcels.emplace_back(size);
        for (std::size_t i = 0; i < size; ++i)
          parcel[i] = static_cast<std::byte>(i + static_cast<std::size_t>(rank_of()));
        pieces += mail.pieces_of(size);
      }
    std::vector<Outgoing> outgoing;
    for (std::size_t i = 0; i < parcels.size(); ++i) outgoing.push_back({static_cast<Rank>(i) % size_of(), parcels[i]});
    mail.send(outgoing, ProbedMail::Mode::synchronous);
    while (mail.receive() < pieces || !mail.all_received() || !mail.all_sent())
      std::this_thread::yield();  // every rank gets as many as it sends
    std::map<Rank, std::vector<std::size_t>> sizes;
    for (const auto& parcel : mail.take()) {
      sizes[parcel.peer].push_back(parcel.bytes.size());
      for (std::size_t i = 0; i < parcel.bytes.size(); ++i)
        ASSERT_EQ(parcel.bytes[i], static_cast<std::byte>(i + static_cast<std::size_t>(parcel.peer)));
    }
    for (Rank peer = 0; peer < size_of(); ++peer)
      EXPECT_EQ(sizes[peer], (std::vector<std::size_t>{0, 1, 3, 4, 12, 13, 99}));
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace commpass
