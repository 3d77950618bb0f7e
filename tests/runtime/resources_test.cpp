// Nothing leaks, and nothing is allocated while an exchange runs.
#include "runtime/resources.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <limits>
#include <optional>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/communicator.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/library_requests.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/plan/planning.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;
using test::some_machine;

class Resources : public testing::Test {
 protected:
  void SetUp() override { before_ = test::held(); }
  void TearDown() override {
    const auto after = test::held();
    EXPECT_EQ(after.communicators, before_.communicators);
    EXPECT_EQ(after.requests, before_.requests);
    EXPECT_EQ(after.types, before_.types);
  }
  /// Each rank's part of an all-to-all of 30 bytes.
  test::LocalExchange local_part() const {
    Pattern pattern{size_of(), {}};
    for (Rank i = 0; i < size_of(); ++i)
      for (Rank j = 0; j < size_of(); ++j) pattern.edges.push_back({i, j, 30});
    return test::local_part(pattern, rank_of(), 3, 1);
  }
  const Layout layout_ = Layout::with_ppn(size_of(), 2);
  test::Held before_;
};

Exchange plan(Communicator& communicator, test::LocalExchange& local, const std::string& strategy = {}) {
  return communicator.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(),
                                        local.receives, {strategy});
}

TEST_F(Resources, AreGivenBackWhenAllHandlesAreGone) {
  const auto taken = test::taken();
  {
    Communicator communicator(MPI_COMM_WORLD, some_machine());  // detects the layout, which splits
    auto local = local_part();
    std::vector<Exchange> exchanges;
    for (const auto& strategy : suggest_strategies(communicator.layout()))
      exchanges.push_back(plan(communicator, local, to_string(strategy)));
    exchanges.push_back(plan(communicator, local, "standard,shared"));
    exchanges.push_back(plan(communicator, local));
    for (auto& exchange : exchanges) {
      exchange.start();
      exchange.wait();
    }
    EXPECT_TRUE(test::held().requests > before_.requests || size_of() == 1);
  }
  EXPECT_GT(test::taken().communicators, taken.communicators) << "the counters count";
  EXPECT_TRUE(test::taken().requests > taken.requests || size_of() == 1);
}

TEST_F(Resources, AreGivenBackInAnyOrderAndAfterMoves) {
  auto local = local_part();
  std::optional<Exchange> survivor;
  {
    Communicator first(MPI_COMM_WORLD, some_machine(), {layout_});
    Communicator second(MPI_COMM_WORLD, some_machine(), {layout_});
    survivor.emplace(plan(first, local, "standard"));
    auto by_library = plan(second, local, "mpi");
    first = std::move(second);
    auto other = plan(first, local, "two-step");
    Exchange moved = std::move(other);
    moved.start();  // and is destroyed in flight
    by_library.start();
  }
  survivor->start();
  survivor->wait();
}

TEST_F(Resources, AreGivenBackWhenPlanningFails) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  const auto held = test::held();
  std::vector<std::byte> buffer(10);
  std::vector<ReceiveEdge> receives;
  if (rank_of() == 0) receives = {{size_of() - 1, 0, 4}};  // that no rank sends
  for (const auto* strategy : {"standard", "mpi", "two-step", "no-such", ""})
    EXPECT_THROW(communicator.neighbor_exchange(buffer.data(), {}, buffer.data(), receives, {strategy}), Error)
        << strategy;
  EXPECT_EQ(test::held(), held);
}

TEST_F(Resources, AreGivenBackWhenACommunicatorCannotBeMade) {
  EXPECT_THROW(Communicator(MPI_COMM_WORLD, std::string("no-such-profile")), Error);
  EXPECT_THROW(Communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of() + 1, 2)}), Error);
}

TEST_F(Resources, OfDatatypesForLargeMessagesAreGivenBack) {
  auto local = local_part();
  const OwnCommunicator comm(MPI_COMM_WORLD);
  const auto strategy = parse_strategy("standard");
  const auto plan = make_plan(comm.get(), *make_route(strategy, layout_), strategy.window, local.sends, local.receives);
  const auto types = test::taken().types;
  const test::LargestCount lowered(2);
  Executor executor(
      std::make_unique<PersistentRequests>(plan, comm.get(), 1, local.send_buffer.data(), local.receive_buffer.data()));
  EXPECT_TRUE(test::taken().types > types || size_of() == 1);
  executor.start();
  executor.wait();
  auto by_library_requests =
      std::make_unique<LibraryRequests>(plan, local.send_buffer.data(), local.receive_buffer.data());
  by_library_requests->connect(comm.get());
  Executor by_library(std::move(by_library_requests));
  by_library.start();
  by_library.wait();
}

// Three blocks of every message lie apart at both ends.
TEST_F(Resources, ForPiecesAreADatatypeOrCopiesWhateverIsCheaper) {
  Pattern pattern{size_of(), {}};
  for (Rank rank = 0; rank < size_of(); ++rank)
    for (int i = 0; i < 3; ++i) pattern.edges.push_back({rank, (rank + 1) % size_of(), 30 + i});
  auto machine = some_machine();
  machine.copy_rate_bytes_per_s = 1e9;
  machine.datatype_block_s = 1e-9;
  for (const double rate : {1e8, 1e12})
    for (const char* strategy : {"standard", "mpi"}) {
      machine.datatype_rate_bytes_per_s = rate;
      Communicator communicator(MPI_COMM_WORLD, machine, {layout_});
      auto local = test::local_part(pattern, rank_of(), 3, 1);
      const auto types = test::taken().types;
      auto exchange = plan(communicator, local, strategy);
      const bool has_types = rate > machine.copy_rate_bytes_per_s && size_of() > 1 && strategy != std::string("mpi");
      EXPECT_EQ(test::taken().types - types, has_types ? 2 : 0) << strategy << ", " << rate;
      for (unsigned turn = 0; turn < 2; ++turn) {
        test::fill(local, rank_of(), turn);
        const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
        const auto before = test::allocations();
        exchange.start();
        exchange.wait();
        EXPECT_EQ(test::allocations(), before);
        EXPECT_EQ(local.receive_buffer, expected);
      }
    }
}

TEST_F(Resources, AreNotAllocatedBetweenStartAndWait) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  auto local = local_part();
  const auto first = test::allocations();
  { const std::vector<int> something(100); }
  ASSERT_GT(test::allocations(), first) << "the counter counts";
  auto strategies = suggest_strategies(layout_);
  for (const auto* shared : {"standard,shared", "two-step,shared"}) strategies.push_back(parse_strategy(shared));
  for (const auto& strategy : strategies) {
    auto exchange = plan(communicator, local, to_string(strategy));
    const auto held = test::held();
    for (int turn = 0; turn < 3; ++turn) {
      const auto before = test::allocations();
      exchange.start();
      exchange.test();
      exchange.wait();
      EXPECT_EQ(test::allocations(), before) << to_string(strategy);
    }
    EXPECT_EQ(test::held(), held) << to_string(strategy) << ": nothing of MPI is created either";
  }
}

TEST_F(Resources, OfAllToAllsAreKeptFromCallToCall) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  const auto ranks = static_cast<std::size_t>(size_of());
  const std::vector<int> counts(ranks, 7);
  std::vector<int> at(ranks), sent(7 * ranks, rank_of()), received(sent.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) at[rank] = static_cast<int>(7 * rank);
  // Memory of nodes, with a communicator of their ranks, is taken once.
  communicator.alltoall(sent.data(), 7, MPI_INT, received.data(), 7, MPI_INT, {"standard,shared"});
  for (const char* strategy :
       {"standard", "standard,window=1", "stfw,n=1", "two-step", "standard,shared", "two-step,shared", ""}) {
    // Sizes that are only surveyed are priced in a later call, after as many as pricing may cost.
    const AlltoallvOptions options{strategy, 7.0 * sizeof(int)};
    constexpr int calls_to_settle = 3;
    for (int turn = 0; turn < 6; ++turn) {
      const auto held = test::held();
      const auto before = test::allocations();
      communicator.alltoallv(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT, options);
      communicator.alltoallv(MPI_IN_PLACE, {}, {}, MPI_INT, received.data(), counts, at, MPI_INT, options);
      communicator.alltoall(sent.data(), 7, MPI_INT, received.data(), 7, MPI_INT, options);
      const auto after = test::allocations();
      EXPECT_TRUE(turn < calls_to_settle || after == before)
          << strategy << " takes memory " << after - before << " times";
      EXPECT_EQ(test::held(), held) << strategy << ": and MPI's handles are given back in the call";
    }
  }
  auto persistent = communicator.alltoallv_init(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT);
  const auto before = test::allocations();
  persistent.start();
  persistent.wait();
  EXPECT_EQ(test::allocations(), before);
  persistent.start();  // and is destroyed in flight
}

// Each stage of a route that forwards has a communicator for those who take part in it.
TEST_F(Resources, OfTheLastFewSparseRoutesAreKept) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  const auto held = test::held().communicators;
  const auto taken = test::taken().communicators;
  const std::vector<std::byte> out(10);
  const std::vector<SendEdge> sends{{(rank_of() + 1) % size_of(), 0, 10}};
  auto in_flight = communicator.start_sparse_alltoallv(out.data(), sends, {"two-step+nbx"});
  for (int turn = 0; turn < 3; ++turn)
    for (const char* route : {"two-step", "stfw,dims=2x3", "stfw,dims=3x2", "stfw,dims=5x2", "stfw,dims=2x5",
                              "stfw,dims=7x2", "stfw,dims=2x7", "local-then-node", "two-step"}) {
      const auto received = communicator.sparse_alltoallv(out.data(), sends, {std::string(route) + "+nbx"});
      EXPECT_EQ(received.size(), 1U);
      constexpr int routes = 4, stages = 2;
      EXPECT_LE(test::held().communicators - held, routes * stages) << route;
    }
  EXPECT_EQ(in_flight.wait().size(), 1U) << "complete, and not handed out while its route went";
  EXPECT_TRUE(test::taken().communicators > taken + 20 || size_of() == 1) << "or the test shows nothing";
}

TEST_F(Resources, OfAllToAllsAreGivenBackWhenAStrategyIsRefused) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  const std::vector<int> none(static_cast<std::size_t>(size_of()));
  communicator.alltoallv(nullptr, none, none, MPI_INT, nullptr, none, none, MPI_INT);
  const auto held = test::held();
  for (const char* strategy : {"no-such", "split,cap=1KiB"})
    EXPECT_THROW(communicator.alltoallv(nullptr, none, none, MPI_INT, nullptr, none, none, MPI_INT, {strategy}), Error)
        << strategy;
  EXPECT_EQ(test::held(), held);
}

/// Every rank owns three values and needs those of all ranks, its own too and the first twice.
std::vector<IndexedExchange> indexed_exchanges(Communicator& communicator) {
  std::vector<Index> needed{0};
  for (Index index = 0; index < 3 * Index{size_of()}; ++index) needed.push_back(index);
  std::vector<IndexedExchange> result;
  for (const char* strategy : {"standard", "two-step", ""})
    for (const bool share : {true, false})
      result.push_back(communicator.indexed_exchange(IndexRange{3 * rank_of(), 3 * rank_of() + 3}, needed,
                                                     sizeof(double),
                                                     {.strategy = strategy, .reverse = true, .share = share}));
  return result;
}

TEST_F(Resources, OfIndexedExchangesAreGivenBackAndNoneAllocatedBetweenStartAndWait) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  auto exchanges = indexed_exchanges(communicator);
  std::vector<double> owned(3), ghosts(1 + 3 * static_cast<std::size_t>(size_of()));
  for (auto& exchange : exchanges)
    for (int turn = 0; turn < 3; ++turn) {
      const auto before = test::allocations();
      exchange.start_forward(owned.data(), ghosts.data());
      exchange.test();
      exchange.wait();
      exchange.reverse_add(ghosts.data(), owned.data());
      EXPECT_EQ(test::allocations(), before) << exchange.strategy();
    }
  exchanges.back().start_forward(owned.data(), ghosts.data());  // and is destroyed in flight
}

TEST_F(Resources, OfReductionsAreGivenBackAndNoneAllocatedBetweenStartAndWait) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  const std::vector<Index> indices{0, rank_of() + 1, 1};
  const std::vector<Contribution> contributions{{0, 2}, {rank_of(), 2}, {size_of() - 1, 2}};
  std::vector<double> values(6, 1), sums(3);
  for (const bool share : {true, false}) {
    const IndexedOptions options{.strategy = "two-step", .share = share};
    auto allreduce = communicator.sparse_allreduce(indices, sizeof(double), options);
    auto neighbors = communicator.neighbor_reduce_scatter(contributions, 2, sizeof(double), options);
    for (int turn = 0; turn < 3; ++turn) {
      const auto before = test::allocations();
      allreduce.start(values.data(), sums.data());
      allreduce.test();
      neighbors.reverse_add(values.data(), sums.data());
      allreduce.wait();
      EXPECT_EQ(test::allocations(), before);
    }
    allreduce.start(values.data(), sums.data());  // and is destroyed in flight
  }
}

TEST_F(Resources, OfIndexedExchangesAreGivenBackWhenPlanningFails) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout_});
  indexed_exchanges(communicator);  // what sparse exchanges keep is there now
  const auto held = test::held();
  const std::vector<Index> nobodys{5};
  EXPECT_THROW(communicator.indexed_exchange(IndexRange{}, nobodys, sizeof(double)), Error);
  EXPECT_THROW(communicator.indexed_exchange(IndexRange{0, size_of() > 1 ? 1 : -1}, {}, sizeof(double)), Error);
  EXPECT_EQ(test::held(), held);
}

}  // namespace
}  // namespace commpass
