// A second plan of a pattern costs one agreement; ranks reuse a plan only if all agree on it.
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/neighbor/plan_cache.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::Calls;
using test::common_error;
using test::counted;
using test::delivers;
using test::everywhere;
using test::rank_of;
using test::size_of;

/// The calls of a second plan: one reduction, which a single rank does not need.
Calls one_agreement() {
  Calls calls;
  calls.small = size_of() == 1 ? 0 : 1;
  return calls;
}

class SecondPlan : public testing::Test {
 protected:
  Exchange plan(test::LocalExchange& local, const ExchangeOptions& options) {
    MPI_Barrier(MPI_COMM_WORLD);
    counted = {};
    return test::plan_local(communicator_, local, options);
  }
  test::LocalExchange local_part(unsigned seed) const {
    return test::local_part(test::random_pattern(size_of(), seed), rank_of(), 3, 1);
  }
  /// All ranks send this many bytes to the next one.
  static test::LocalExchange ring(Bytes bytes) {
    Pattern pattern{size_of(), {}};
    for (Rank i = 0; i < size_of(); ++i) pattern.edges.push_back({i, (i + 1) % size_of(), bytes});
    return test::local_part(pattern, rank_of(), 0, 1);
  }

  const Layout layout_ = Layout::with_ppn(size_of(), 2);
  Communicator communicator_{MPI_COMM_WORLD, test::some_machine(), {layout_}};
};

TEST_F(SecondPlan, OfAPatternIsOneAgreement) {
  for (const std::string strategy :
       {"", "standard", "standard,window=1", "standard,staggered", "mpi", "two-step", "stfw,n=1", "tuna,radix=2"}) {
    if (strategy.starts_with("tuna") && size_of() < 3) continue;
    SCOPED_TRACE(strategy);
    auto first = local_part(5), second = local_part(5);
    { const auto exchange = plan(first, {strategy}); }
    auto exchange = plan(second, {strategy});
    EXPECT_EQ(counted, one_agreement());
    ASSERT_TRUE(delivers(exchange, second, 1));
  }
}

TEST_F(SecondPlan, TellsWhatTheFirstTold) {
  auto local = local_part(7);
  ExchangeOptions by_price;
  by_price.planner = PlannerMode::estimate;
  const auto first = plan(local, by_price);
  const auto second = plan(local, by_price);
  EXPECT_EQ(second.strategy(), first.strategy());
  EXPECT_EQ(second.predicted_seconds(), first.predicted_seconds());
  EXPECT_EQ(second.explanation(), first.explanation());
  EXPECT_EQ(second.buffer_bytes(), first.buffer_bytes());
  EXPECT_FALSE(first.explanation().empty());
}

TEST_F(SecondPlan, AndAThousandMoreTakeAsManyAgreementsAndNoCommunicator) {
  constexpr int plans = 1000;
  auto local = local_part(9);
  std::vector<Exchange> exchanges;
  exchanges.push_back(plan(local, {}));
  Calls calls;
  for (int i = 1; i < plans; ++i) {
    exchanges.push_back(plan(local, {}));
    calls.small += counted.small;
    EXPECT_EQ(counted.counting + counted.communicators + counted.messages, 0);
  }
  EXPECT_EQ(calls.small, size_of() == 1 ? 0 : plans - 1);
  ASSERT_TRUE(delivers(exchanges.front(), local, 1));
  ASSERT_TRUE(delivers(exchanges.back(), local, 2));
}

TEST_F(SecondPlan, OfDatatypesIsOneAgreementToo) {
  const Rank next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
  std::vector<double> out(8, rank_of()), in(8, -1);
  const std::vector<TypedBlock> sends{{next, 0, 4, MPI_DOUBLE}}, receives{{previous, 16, 4, MPI_DOUBLE}};
  const auto plan_typed = [&] {
    MPI_Barrier(MPI_COMM_WORLD);
    counted = {};
    return communicator_.typed_neighbor_exchange(out.data(), sends, in.data(), receives);
  };
  { const auto first = plan_typed(); }
  auto second = plan_typed();
  EXPECT_EQ(counted, one_agreement());
  second.start();
  second.wait();
  EXPECT_EQ(in, (std::vector<double>{-1, -1, 1. * previous, 1. * previous, 1. * previous, 1. * previous, -1, -1}));
}

TEST_F(SecondPlan, IsPlannedByAllWhereOneRankHasOtherPlaces) {
  for (const auto* strategy : {"", "standard", "two-step", "mpi"}) {
    SCOPED_TRACE(strategy);
    auto first = ring(24);
    const auto exchange = plan(first, {strategy});
    auto second = ring(24);
    if (rank_of() == 0) {
      second.send_buffer.resize(100);
      for (auto& edge : second.sends) edge.offset += 8;
    }
    auto moved = plan(second, {strategy});
    EXPECT_TRUE(size_of() == 1 || counted.collectives() > 1);
    ASSERT_TRUE(delivers(moved, second, 1));
  }
}

TEST_F(SecondPlan, IsPlannedAnewForOtherOptions) {
  if (size_of() == 1) return;
  auto local = local_part(5);
  { const auto exchange = plan(local, {}); }
  ExchangeOptions few, anew;
  few.calls = 1;
  { const auto exchange = plan(local, few); }
  EXPECT_GT(counted.collectives(), 1);
  anew.anew = true;
  { const auto exchange = plan(local, anew); }
  EXPECT_GT(counted.collectives(), 1);
}

TEST_F(SecondPlan, FailsOnAllRanksIfItFailsOnOne) {
  auto local = ring(16);
  for (const auto* strategy : {"", "standard", "mpi"}) {
    { const auto exchange = plan(local, {strategy}); }
    const auto* const buffer = rank_of() == size_of() - 1 ? nullptr : local.send_buffer.data();
    EXPECT_NE(common_error([&] {
                communicator_.neighbor_exchange(buffer, local.sends, local.receive_buffer.data(), local.receives,
                                                {strategy});
              }).find("a buffer is null but has edges"),
              std::string::npos);
    auto third = plan(local, {strategy});
    EXPECT_EQ(counted, one_agreement());
    ASSERT_TRUE(delivers(third, local, 3));
  }
}

// Ranks may start exchanges in any order, but not collectives of one communicator.
TEST_F(SecondPlan, ByTheLibraryHasACommunicatorOfItsOwnWhileTheFirstIsThere) {
  if (size_of() == 1) return;  // to whom the library sends nothing
  auto local = ring(40), other = ring(40);
  auto first = std::optional<Exchange>(plan(local, {"mpi"}));
  auto second = plan(other, {"mpi"});
  EXPECT_EQ(counted.communicators, 1);
  test::fill(local, rank_of(), 1);
  test::fill(other, rank_of(), 2);
  const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
  const auto other_expected = test::naive_exchange(other, MPI_COMM_WORLD);
  Exchange* const in_order[] = {&*first, &second};
  for (int i = 0; i < 2; ++i) in_order[(i + rank_of()) % 2]->start();
  for (auto* exchange : in_order) exchange->wait();
  ASSERT_TRUE(everywhere(local.receive_buffer == expected && other.receive_buffer == other_expected));

  // Gone on one rank alone, it is not free.
  std::optional<Exchange> kept;
  if (rank_of() == 0) kept = std::move(first);
  first.reset();
  auto third = plan(local, {"mpi"});
  EXPECT_EQ(counted.communicators, 1);
  ASSERT_TRUE(delivers(third, local, 3));
}

TEST_F(SecondPlan, IsForgottenAfterManyOtherPatterns) {
  if (size_of() == 1) return;
  const auto plan_ring = [&](std::size_t i) {
    auto local = ring(static_cast<Bytes>(8 + i));
    const auto exchange = plan(local, {"standard,staggered"});
  };
  for (std::size_t i = 0; i < PlanCache::plans_max; ++i) plan_ring(i);
  plan_ring(0);  // and is the last used one from now on
  EXPECT_EQ(counted, one_agreement());
  plan_ring(PlanCache::plans_max);
  plan_ring(0);
  EXPECT_EQ(counted, one_agreement());
  plan_ring(1);
  EXPECT_GT(counted.collectives(), 1);
}

}  // namespace
}  // namespace commpass
