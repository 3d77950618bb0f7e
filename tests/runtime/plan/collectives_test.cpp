// The collective calls of planning are those that model/cost/plan_cost.cpp prices.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "model/cost/plan_cost.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::counted;
using test::rank_of;
using test::size_of;

/// The strategies that apply to the layout: of one stage and of several, with and without tables of the pattern.
std::vector<Strategy> strategies_for(const Layout& layout) {
  std::vector<Strategy> result;
  for (const auto* text :
       {"standard", "standard,window=1", "standard,staggered", "mpi", "two-step", "two-step,window=1",
        "two-step,staggered", "stfw,n=1", "stfw,n=2", "stfw,n=3", "stfw,n=2,placed", "tuna,radix=2",
        "tuna,radix=2,staggered", "tuna,radix=5", "three-step", "three-step,staggered", "split,cap=100"})
    if (const auto strategy = parse_strategy(text);
        catalogue_row(strategy.route).inapplicable(strategy, layout).empty())
      result.push_back(strategy);
  return result;
}

class Collectives : public testing::Test {
 protected:
  void plan(const std::string& strategy, const Pattern& pattern) {
    auto local = test::local_part(pattern, rank_of(), 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    counted = {};
    test::plan_local(communicator_, local, {strategy});
  }

  const Layout layout_ = Layout::with_ppn(size_of(), 2);
  Communicator communicator_{MPI_COMM_WORLD, test::some_machine(), {layout_}};
  const Pattern pattern_ = test::random_pattern(size_of(), 5);
};

TEST_F(Collectives, OfPlanningAreThoseThatArePriced) {
  if (size_of() == 1) return;  // which needs none
  for (const auto& strategy : strategies_for(layout_)) {
    plan(to_string(strategy), pattern_);
    const auto route = make_route(strategy, layout_, pattern_);
    const auto priced =
        plan_collectives(route->stages(), strategy.coalescing, pattern_need(strategy) != PatternNeed::nothing);
    EXPECT_EQ(counted.small + counted.communicators, priced.small) << to_string(strategy);
    EXPECT_EQ(counted.counting, priced.counting) << to_string(strategy);
  }
}

TEST_F(Collectives, OfStandardAreOneAgreement) {
  for (const auto* strategy : {"standard", "standard,window=1"}) {
    plan(strategy, pattern_);
    EXPECT_EQ(counted.collectives(), size_of() == 1 ? 0 : 1) << strategy;
  }
}

TEST_F(Collectives, OfAPersistentAlltoallvAreOneAgreement) {
  const std::vector<int> counts(static_cast<std::size_t>(size_of()), 1);
  std::vector<int> at, sent(counts), received(counts);
  for (int rank = 0; rank < size_of(); ++rank) at.push_back(rank);
  counted = {};
  communicator_.alltoallv_init(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT, {"standard"});
  EXPECT_EQ(counted.collectives(), size_of() == 1 ? 0 : 1);
}

// A receiver does not know that two blocks of a message have the same bytes.
TEST_F(Collectives, OfStandardAreMoreWhereABlockIsSentTwice) {
  if (size_of() == 1) return;
  plan("standard", {size_of(), {{0, 1, 8, 0}, {0, 1, 8, 0}}});
  EXPECT_EQ(counted.counting, 1);
}

}  // namespace
}  // namespace commpass
