// Choices for exchanges that are run once: the same on every rank, whatever these would choose, and priced seldom.
#include "runtime/choose/one_shot_chooser.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "runtime/communicator.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace {

std::atomic<int> broadcasts = 0;  // other tests of this program have exchanges in several threads

}  // namespace

extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++broadcasts;
  return PMPI_Bcast(buffer, count, type, root, comm);
}

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

TEST(Decisions, OfRankZeroReachAllRanksWithTheirEvidence) {
  int calls = 0;
  const auto told = decided_by_rank_0(MPI_COMM_WORLD, [&] {
    ++calls;
    Decision timed{{"tuna,radix=2", 1.0 / 3, 7, 0.1, RequestLife::immediate}, "first; line\n\tsecond\flast\n"};
    timed.contenders = {{"mpi"}, {"standard", 2e-6, 1, {}, RequestLife::immediate}};
    timed.from_bytes = 0.7;
    timed.pricing_s = 1e-300;
    timed.patience = std::int64_t{1} << 40;
    return std::vector{timed, Decision{{"standard"}}};
  });
  EXPECT_EQ(calls, rank_of() == 0 ? 1 : 0);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].strategy, "tuna,radix=2");
  EXPECT_EQ(told[0].predicted_s, 1.0 / 3);
  EXPECT_EQ(told[0].survey_interval, 7);
  EXPECT_EQ(told[0].measured_s, 0.1);
  EXPECT_EQ(told[0].requests, RequestLife::immediate);
  EXPECT_EQ(told[0].explanation, "first; line\n\tsecond\flast\n");
  EXPECT_EQ(told[0].from_bytes, 0.7);
  EXPECT_EQ(told[0].pricing_s, 1e-300);
  EXPECT_EQ(told[0].patience, std::int64_t{1} << 40);
  ASSERT_EQ(told[0].contenders.size(), 2U);
  EXPECT_FALSE(told[0].contenders[0].predicted_s);
  EXPECT_EQ(told[0].contenders[1].predicted_s, 2e-6);
  EXPECT_EQ(told[0].contenders[1].requests, RequestLife::immediate);
  EXPECT_EQ(told[1].strategy, "standard");
  EXPECT_EQ(told[1].explanation, "");
  EXPECT_TRUE(told[1].contenders.empty());
  EXPECT_TRUE(decided_by_rank_0(MPI_COMM_WORLD, [] { return std::vector<Decision>(); }).empty());
}

class OneShotChooserTest : public testing::Test {
 protected:
  /// Exchanges of one size, that differ in nothing else.
  static ExchangeClass of_digits(int digits) { return {0, 0, digits}; }

  const std::string& choose(int digits, Seconds predicted_s) {
    const auto price = [&](std::size_t) {
      ++priced_;
      return Decision{{std::to_string(digits) + " by rank " + std::to_string(rank_of()), predicted_s}};
    };
    return chooser_.choose("", of_digits(digits), price).strategy;
  }

  OwnCommunicator comm_{MPI_COMM_WORLD};
  OneShotChooser chooser_{comm_.get()};
  int priced_ = 0;
};

constexpr Seconds much_longer_than_pricing = 1e6, much_shorter = 1e-12;

TEST_F(OneShotChooserTest, RankZeroDecidesForAll) {
  for (const int digits : {1, 20, 1, 20, 40}) {
    EXPECT_EQ(choose(digits, much_longer_than_pricing), std::to_string(digits) + " by rank 0");
    EXPECT_EQ(chooser_.nearest("", of_digits(digits))->strategy, std::to_string(digits) + " by rank 0");
  }
  EXPECT_EQ(priced_, rank_of() == 0 ? 3 : 0);
  EXPECT_EQ(chooser_.nearest("", of_digits(13))->strategy, "20 by rank 0");
  EXPECT_EQ(chooser_.nearest("other", of_digits(1)), nullptr);
}

TEST_F(OneShotChooserTest, WherePricingIsCheapEachClassHasItsOwnChoice) {
  for (int digits = 1; digits <= 40; ++digits)
    EXPECT_EQ(choose(digits, much_longer_than_pricing), std::to_string(digits) + " by rank 0");
}

// Sizes grow from 1 B to 1 TiB, seven exchanges of each class.
TEST_F(OneShotChooserTest, WherePricingIsExpensiveDriftingSizesArePricedSeldom) {
  for (int digits = 1; digits <= 40; ++digits)
    for (int exchange = 0; exchange < 7; ++exchange) choose(digits, much_shorter);
  if (rank_of() == 0) {
    EXPECT_LE(priced_, 1 + 40 / 7);
    EXPECT_GE(priced_, 1 + 40 / 10) << "but those that are far apart are";
  }
}

TEST_F(OneShotChooserTest, FrequentClassesArePriced) {
  choose(10, much_shorter);
  constexpr int most = 100000;
  int exchanges = 1;
  while (exchanges < most && choose(11, much_shorter) != "11 by rank 0") ++exchanges;
  EXPECT_GT(exchanges, 1000);
  EXPECT_LT(exchanges, most);
}

TEST_F(OneShotChooserTest, ThatFailsOnRankZeroFailsOnAllAndIsTriedAgain) {
  for (int turn = 0; turn < 2; ++turn) {
    const auto price = [&](std::size_t) -> Decision { throw InputError("a place", "bad", "mend it"); };
    EXPECT_NE(test::common_error([&] { chooser_.choose("", of_digits(5), price); }).find("a place"), std::string::npos);
  }
  EXPECT_EQ(choose(5, much_longer_than_pricing), "5 by rank 0");
}

// From 1 KiB to 1 MiB by 10 % from call to call; what rank 0 decides is broadcast.
TEST(DriftingSizes, OfAllToAllsArePricedSeldomWherePricingIsExpensive) {
  Machine machine = test::some_machine();
  for (auto& channel : machine.host.by_level) {
    if (!channel) continue;
    auto& protocol = channel->protocols.front();
    protocol.alpha_s = protocol.alpha_next_s = 1e-12;
    protocol.beta_s_per_byte = 1e-18;
  }
  Communicator communicator(MPI_COMM_WORLD, machine, {Layout::with_ppn(size_of(), 2)});
  const std::vector<int> none(static_cast<std::size_t>(size_of()));
  constexpr int broadcasts_a_decision = 2, classes = 10;
  const int before = broadcasts;
  int calls = 0;
  for (double bytes = 1 << 10; bytes < 1 << 20; bytes *= 1.1, ++calls)
    communicator.alltoallv(nullptr, none, none, MPI_INT, nullptr, none, none, MPI_INT,
                           {"", bytes, PlannerMode::estimate});
  EXPECT_GT(calls, 5 * classes);
  EXPECT_GE(broadcasts - before, broadcasts_a_decision) << "the first is priced";
  EXPECT_LE(broadcasts - before, 2 * broadcasts_a_decision);
}

/// As another build or processor may see it, and worse: a cheap strategy of one rank is expensive for the others.
Machine machine_of(Rank rank) {
  auto machine = test::some_machine();
  if (rank % 2 == 0) return machine;
  for (auto& channel : machine.host.by_level) {
    if (!channel) continue;
    auto& protocol = channel->protocols.front();
    std::swap(protocol.alpha_s, protocol.beta_s_per_byte);
    protocol.alpha_receive_s = 1e-3;
  }
  machine.operations.put_s = machine.operations.probe_s = 0;
  machine.operations.alltoallv_s = -1;
  return machine;
}

std::string of_rank_zero(std::string text) {
  constexpr int longest = 400;
  text.resize(longest);
  MPI_Bcast(text.data(), longest, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text.c_str();
}

TEST(RanksThatPriceDifferently, WouldChooseDifferently) {
  const auto layout = Layout::with_ppn(8, 2);
  const auto best = [&](Rank rank) {
    return to_string(SparseChoice(layout, machine_of(rank), true).best(expected_traffic(7, 8, layout)).strategy);
  };
  EXPECT_NE(best(0), best(1)) << "or the checks below show nothing";
}

TEST(RanksThatPriceDifferently, RunTheSameSparseExchanges) {
  Communicator communicator(MPI_COMM_WORLD, machine_of(rank_of()), {Layout::with_ppn(size_of(), 2)});
  for (int turn = 0; turn < 30; ++turn) {
    const Bytes bytes = Bytes{1} << (turn * 7 % 13);
    const std::vector<std::byte> out(static_cast<std::size_t>(bytes), std::byte{7});
    std::vector<Rank> destinations(static_cast<std::size_t>(1 + turn % size_of()));
    std::iota(destinations.begin(), destinations.end(), 0);
    std::vector<SendEdge> edges;
    for (const Rank to : destinations) edges.push_back({to, 0, bytes});
    SparseOptions options;
    if (turn % 3 == 0) options.messages = turn % 5;
    options.bytes = static_cast<double>(bytes);
    auto exchange = communicator.start_sparse_alltoallv(out.data(), edges, options);
    EXPECT_EQ(exchange.wait().size(), rank_of() < std::ssize(destinations) ? static_cast<std::size_t>(size_of()) : 0U);
    EXPECT_EQ(exchange.strategy(), of_rank_zero(exchange.strategy()));
    EXPECT_EQ(exchange.explanation(), of_rank_zero(exchange.explanation()));
    EXPECT_EQ(communicator.sparse_alltoallv(out.data(), edges, options).size(),
              rank_of() < std::ssize(destinations) ? static_cast<std::size_t>(size_of()) : 0U);
    std::vector<std::byte> same(destinations.size() * out.size());
    EXPECT_EQ(communicator.sparse_alltoall(same.data(), destinations, bytes, options).size(),
              rank_of() < std::ssize(destinations) ? static_cast<std::size_t>(size_of()) : 0U);
  }
}

TEST(RanksThatPriceDifferently, RunTheSameAllToAlls) {
  Communicator communicator(MPI_COMM_WORLD, machine_of(rank_of()), {Layout::with_ppn(size_of(), 2)});
  const auto ranks = static_cast<std::size_t>(size_of());
  for (int turn = 0; turn < 20; ++turn) {
    const int bytes = 1 << (turn * 5 % 14);
    const std::vector<int> counts(ranks, bytes);
    std::vector<int> at(ranks);
    for (std::size_t rank = 1; rank < ranks; ++rank) at[rank] = at[rank - 1] + bytes;
    const std::vector<char> sent(ranks * static_cast<std::size_t>(bytes), static_cast<char>(rank_of()));
    std::vector<char> received(sent.size());
    communicator.alltoallv(sent.data(), counts, at, MPI_CHAR, received.data(), counts, at, MPI_CHAR);
    EXPECT_EQ(communicator.last_alltoallv_strategy(), of_rank_zero(communicator.last_alltoallv_strategy()));
    EXPECT_EQ(received.back(), static_cast<char>(size_of() - 1));
    communicator.alltoall(sent.data(), bytes, MPI_CHAR, received.data(), bytes, MPI_CHAR);
    EXPECT_EQ(communicator.last_alltoallv_strategy(), of_rank_zero(communicator.last_alltoallv_strategy()));
  }
}

TEST(RanksThatPriceDifferently, RunTheSamePlannedExchanges) {
  Communicator communicator(MPI_COMM_WORLD, machine_of(rank_of()), {Layout::with_ppn(size_of(), 2)});
  for (const unsigned seed : {1U, 2U, 3U})
    for (const std::int64_t most_edges : {0, 1 << 20}) {
      auto local = test::local_part(test::random_pattern(size_of(), seed), rank_of(), 0, seed);
      ExchangeOptions options;
      options.most_edges_gathered = most_edges;
      auto exchange = communicator.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(),
                                                     local.receives, options);
      test::fill(local, rank_of(), seed);
      const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
      exchange.start();
      exchange.wait();
      EXPECT_EQ(local.receive_buffer, expected);
      EXPECT_EQ(exchange.strategy(), of_rank_zero(exchange.strategy()));
      Seconds predicted = exchange.predicted_seconds().value();
      MPI_Bcast(&predicted, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      EXPECT_EQ(exchange.predicted_seconds(), predicted);
    }
}

}  // namespace
}  // namespace commpass
