// A profile that knows ranks of one socket, on ranks of several nodes and sockets: everything runs, and one warning
// says how.
#include "runtime/choose/decision.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::rank_of;
using test::size_of;

/// As calibrated on ranks of one socket. The name tells the warnings of tests apart.
Machine machine_of_a_socket(const std::string& name) {
  auto machine = test::some_machine();
  machine.name = name;
  machine.host.by_level[standard_level::network].reset();
  return machine;
}

Layout two_nodes() { return Layout::with_ppn(size_of(), (size_of() + 1) / 2); }

Layout two_sockets() {
  std::vector<int> nodes(static_cast<std::size_t>(size_of()), 0), sockets(nodes);
  for (Rank rank = 0; rank < size_of(); ++rank) sockets[static_cast<std::size_t>(rank)] = rank % 2;
  return Layout(nodes, sockets);
}

void expect_one_warning(const std::string& text, const std::vector<std::string>& parts) {
  if (rank_of() != 0 || size_of() == 1) {
    EXPECT_EQ(text, "") << "rank 0 speaks, where something is missing";
    return;
  }
  EXPECT_TRUE(text.starts_with("commpass: ")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  for (const auto& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

void expect_delivery(Communicator& communicator, const ExchangeOptions& options, const std::string& strategy,
                     unsigned seed) {
  auto local = test::local_part(test::random_pattern(size_of(), seed), rank_of(), 2, seed);
  auto exchange = communicator.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(),
                                                 local.receives, options);
  if (size_of() > 1) {
    EXPECT_EQ(exchange.strategy(), strategy);
    EXPECT_FALSE(exchange.predicted_seconds());
    EXPECT_NE(exchange.explanation().find("no strategy has a price"), std::string::npos) << exchange.explanation();
    EXPECT_NE(exchange.explanation().find("calibrate on ranks of two"), std::string::npos) << exchange.explanation();
  }
  test::fill(local, rank_of(), 1);
  const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
  exchange.start();
  exchange.wait();
  EXPECT_EQ(local.receive_buffer, expected);
}

TEST(WithoutPrices, NeighbourExchangesRunStandardAndTellItOnce) {
  const auto told = test::stderr_of([] {
    Communicator communicator(MPI_COMM_WORLD, machine_of_a_socket("neighbours"), {two_nodes()});
    expect_delivery(communicator, {}, "standard", 1);
    ExchangeOptions by_statistics;
    by_statistics.most_edges_gathered = 0;
    expect_delivery(communicator, by_statistics, "standard", 2);
    ExchangeOptions counted;
    counted.calls = 3;
    expect_delivery(communicator, counted, "standard", 3);
    Communicator again(MPI_COMM_WORLD, machine_of_a_socket("neighbours"), {two_nodes()});
    expect_delivery(again, {}, "standard", 4);
  });
  expect_one_warning(told, {"profile neighbours: it has no parameters for 'network', but the layout has 2 nodes",
                            "exchanges run standard", "calibrate on ranks of two nodes"});
}

TEST(WithoutPrices, SocketsOfANodeAreMissedToo) {
  const auto told = test::stderr_of([] {
    Communicator communicator(MPI_COMM_WORLD, machine_of_a_socket("sockets"), {two_sockets()});
    expect_delivery(communicator, {}, "standard", 5);
  });
  expect_one_warning(told, {"it has no parameters for 'node', but the layout has several sockets on a node",
                            "calibrate on ranks of two sockets of a node"});
}

TEST(WithoutPrices, ANumberThatIsLeftToTheModelIsTheMedian) {
  if (size_of() == 1) return;
  test::stderr_of([] {
    Communicator communicator(MPI_COMM_WORLD, machine_of_a_socket("automatic"), {two_nodes()});
    ExchangeOptions options;
    options.strategy = "tuna,radix=auto";
    const auto radix = size_of() < 3 ? "2" : size_of() < 5 ? "3" : "4";  // of 2 and P; 2, 3, 4 and P; also √P
    expect_delivery(communicator, options, std::string("tuna,radix=") + radix, 6);
  });
}

TEST(LevelsInAnotherOrder, AreLeftOutAndAreToldOnce) {
  const auto told = test::stderr_of([] {
    auto machine = test::some_machine();
    machine.name = "another order";
    machine.levels = {{.name = "numa"}, {.name = "cache"}, {.name = "node"}, {.name = "network"}};
    machine.host.by_level[machine.outermost()] = machine.host.by_level[0];
    std::vector<int> pairs, fours, nodes(at(size_of()), 0);
    for (Rank rank = 0; rank < size_of(); ++rank) {
      pairs.push_back(rank / 2);
      fours.push_back(rank / 4);
    }
    const std::vector<Layout::LevelIds> levels{{"cache", pairs}, {"numa", fours}, {"node", nodes}};
    for (int i = 0; i < 2; ++i) {
      Communicator communicator(MPI_COMM_WORLD, machine, {Layout(levels)});
      auto local = test::local_part(test::random_pattern(size_of(), 8), rank_of(), 0, 8);
      const auto exchange = communicator.neighbor_exchange(local.send_buffer.data(), local.sends,
                                                           local.receive_buffer.data(), local.receives);
      EXPECT_TRUE(exchange.predicted_seconds() || size_of() == 1);
    }
  });
  EXPECT_EQ(told, rank_of() != 0 ? ""
                                 : "commpass: profile another order lacks level cache within numa: messages within one "
                                   "are priced like those of levels.numa.\n");
}

TEST(WithoutPrices, NamedStrategiesRunInSilence) {
  const auto told = test::stderr_of([] {
    Communicator communicator(MPI_COMM_WORLD, machine_of_a_socket("named"), {two_nodes()});
    auto local = test::local_part(test::random_pattern(size_of(), 7), rank_of(), 0, 7);
    ExchangeOptions options;
    options.strategy = "stfw,n=1";
    EXPECT_EQ(communicator
                  .neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(), local.receives,
                                     options)
                  .strategy(),
              "stfw,n=1");
  });
  EXPECT_EQ(told, "");
}

/// Every rank sends three numbers to every rank, by `exchange`.
void expect_alltoallv(Communicator& communicator,
                      const std::function<void(const std::vector<int>&, const std::vector<int>&,
                                               const std::vector<int>&, std::vector<int>&)>& exchange,
                      bool in_place) {
  const auto ranks = static_cast<std::size_t>(communicator.layout().ranks());
  constexpr int each = 3;
  const std::vector<int> counts(ranks, each);
  std::vector<int> displacements(ranks), sent, received(ranks * each, -1);
  for (std::size_t rank = 0; rank < ranks; ++rank) displacements[rank] = static_cast<int>(rank) * each;
  for (std::size_t i = 0; i < ranks * each; ++i) sent.push_back(rank_of() * 1000 + static_cast<int>(i));
  if (in_place) received = sent;
  exchange(counts, displacements, sent, received);
  for (std::size_t source = 0; source < ranks; ++source)
    for (int i = 0; i < each; ++i)
      EXPECT_EQ(received[source * each + static_cast<std::size_t>(i)],
                static_cast<int>(source) * 1000 + rank_of() * each + i);
}

TEST(WithoutPrices, AllToAllsRunMpisOwn) {
  const auto told = test::stderr_of([] {
    Communicator communicator(MPI_COMM_WORLD, machine_of_a_socket("all to all"), {two_nodes()});
    const auto expect_strategy = [&](const std::string& strategy) {
      if (size_of() > 1) {
        EXPECT_EQ(communicator.last_alltoallv_strategy(), strategy);
      }
    };
    const auto alltoallv = [&](const AlltoallvOptions& options) {
      return [&communicator, options](const auto& counts, const auto& at, const auto& sent, auto& received) {
        communicator.alltoallv(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT, options);
      };
    };
    for (int call = 0; call < 3; ++call) {
      expect_alltoallv(communicator, alltoallv({}), false);
      expect_strategy("mpi");
    }
    expect_alltoallv(
        communicator,
        [&](const auto& counts, const auto& at, const auto&, auto& received) {
          communicator.alltoallv(MPI_IN_PLACE, {}, {}, MPI_INT, received.data(), counts, at, MPI_INT);
        },
        true);
    expect_strategy("standard");
    expect_alltoallv(
        communicator,
        [&](const auto& counts, const auto&, const auto& sent, auto& received) {
          communicator.alltoall(sent.data(), counts[0], MPI_INT, received.data(), counts[0], MPI_INT);
        },
        false);
    expect_strategy("mpi");
    if (size_of() > 1) {
      expect_alltoallv(communicator, alltoallv({.strategy = "tuna,radix=auto"}), false);
      EXPECT_TRUE(communicator.last_alltoallv_strategy().starts_with("tuna,radix="));
    }
    expect_alltoallv(
        communicator,
        [&](const auto& counts, const auto& at, const auto& sent, auto& received) {
          auto exchange =
              communicator.alltoallv_init(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT);
          if (size_of() > 1) {
            EXPECT_EQ(exchange.strategy(), "standard");
          }
          exchange.start();
          exchange.wait();
        },
        false);
  });
  expect_one_warning(told, {"profile all to all", "all-to-alls that are called once mpi"});
}

TEST(WithoutPrices, SparseExchangesRunANamedDefault) {
  const auto told = test::stderr_of([] {
    Communicator communicator(MPI_COMM_WORLD, machine_of_a_socket("sparse"), {two_nodes()});
    const Rank next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
    const std::int64_t number = rank_of();
    const auto expect_number = [&](const ReceivedMessages& received) {
      ASSERT_EQ(received.size(), 1U);
      for (const auto& message : received) {
        EXPECT_EQ(message.source, previous);
        EXPECT_EQ(std::to_integer<int>(message.bytes[0]), previous);
      }
    };
    const std::vector<SendEdge> sends{{next, 0, sizeof number}};
    const std::vector<Rank> destinations{next};
    for (int call = 0; call < 3; ++call) {
      expect_number(communicator.sparse_alltoallv(&number, sends));
      expect_number(communicator.sparse_alltoall(&number, destinations, sizeof number));
      auto variable = communicator.start_sparse_alltoallv(&number, sends);
      auto constant = communicator.start_sparse_alltoall(&number, destinations, sizeof number);
      if (size_of() > 1) {
        EXPECT_EQ(variable.strategy(), "direct+nbx");
        EXPECT_EQ(constant.strategy(), "direct+nbx");
      }
      expect_number(constant.wait());
      expect_number(variable.wait());
    }
  });
  expect_one_warning(told, {"profile sparse", "sparse exchanges direct+nbx"});
}

TEST(WithoutPrices, IndexedExchangesRunWithoutGroups) {
  const auto told = test::stderr_of([] {
    Communicator communicator(MPI_COMM_WORLD, machine_of_a_socket("indexed"), {two_nodes()});
    constexpr Index each = 100;  // all need all, so that sharing would be tried
    const Index begin = rank_of() * each;
    std::vector<std::int64_t> owned(each), ghosts(static_cast<std::size_t>(each * size_of()));
    std::vector<Index> needed(ghosts.size());
    std::iota(owned.begin(), owned.end(), begin);
    std::iota(needed.begin(), needed.end(), 0);
    IndexedOptions options;
    options.reverse = true;
    auto exchange =
        communicator.indexed_exchange(IndexRange{begin, begin + each}, needed, sizeof(std::int64_t), options);
    if (size_of() > 1) {
      EXPECT_EQ(exchange.strategy(), "standard");
      EXPECT_FALSE(exchange.predicted_seconds());
      EXPECT_FALSE(exchange.shares_values());
    }
    exchange.forward(owned.data(), ghosts.data());
    EXPECT_EQ(ghosts, needed);
    std::ranges::fill(owned, 0);
    exchange.reverse_add(ghosts.data(), owned.data());
    for (Index i = 0; i < each; ++i) EXPECT_EQ(owned[static_cast<std::size_t>(i)], (begin + i) * size_of());
  });
  expect_one_warning(told, {"profile indexed"});
}

}  // namespace
}  // namespace commpass
