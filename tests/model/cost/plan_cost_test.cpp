#include "model/cost/plan_cost.hpp"

#include <gtest/gtest.h>

#include "model/support.hpp"

namespace commpass {
namespace {

constexpr Seconds alpha = 1e-6, allreduce = 7e-6;
constexpr double beta = 1e-9;

Machine machine() {
  Machine m;
  m.name = "test";
  test::set_channel(m, Locality::network, {{Protocol{"eager", test::no_limit, alpha, beta, alpha}}});
  m.copy_rate_bytes_per_s = 1e3;  // so slow that it would show
  m.copy_block_s = 1;
  return m;
}

Seconds plan_of(const std::string& text, const Layout& layout, const Pattern& pattern, const Machine& on) {
  const auto strategy = parse_strategy(text);
  return plan_seconds(make_schedule(*make_route(strategy, layout, pattern), strategy.window, pattern), strategy, layout,
                      on);
}

TEST(PlanCost, IsHeadersAndCollectives) {
  const auto layout = Layout::regular(2, 1, 1);
  const Pattern pattern{2, {{0, 1, 1000000}, {0, 1, 5}}};
  auto m = machine();
  // Two headers in one message; counting, two agreements in the stage, and eight collectives besides; an int for each
  // rank.
  const Seconds headers = alpha + 2 * sizeof(Block) * beta, counts = 2 * sizeof(int) * beta;
  EXPECT_NEAR(plan_of("standard", layout, pattern, m), headers + 11 * alpha + counts, 1e-15)
      << "one step of α where no allreduce was measured";
  m.operations.allreduce_s = allreduce;
  EXPECT_NEAR(plan_of("standard", layout, pattern, m), headers + 11 * allreduce + counts, 1e-15);
  EXPECT_NEAR(plan_of("standard,staggered", layout, pattern, m), headers + 12 * allreduce + counts, 1e-15);
}

TEST(PlanCost, HasNoWindow) {
  const auto layout = Layout::regular(8, 1, 1);
  auto m = machine();
  m.host.by_locality[static_cast<std::size_t>(Locality::network)]->protocols.front().alpha_next_s =
      alpha / 4;  // so that a window would show
  const Seconds headers = alpha + 6 * alpha / 4 + 7 * sizeof(Block) * beta, counts = 8 * sizeof(int) * beta,
                collective = 3 * alpha;
  for (const auto* strategy : {"standard", "standard,window=1"})
    EXPECT_NEAR(plan_of(strategy, layout, test::alltoall(8, 100), m), headers + 11 * collective + counts, 1e-15)
        << strategy;
}

TEST(PlanCost, OfMoreStagesIsMoreCollectives) {
  const auto layout = Layout::regular(16, 1, 1);
  auto m = machine();
  m.operations.allreduce_s = 1;
  const Pattern pattern{16, {{0, 15, 8}}};
  EXPECT_NEAR(plan_of("stfw,n=4", layout, pattern, m) - plan_of("stfw,n=2", layout, pattern, m), 2 * 3, 1e-3);
}

TEST(PlanCost, OfMoreRanksThanWereMeasuredIsLongerCollectives) {
  const Pattern pattern{16, {{0, 15, 8}}};
  auto m = machine();
  m.operations.allreduce_s = 1;
  m.operations.ranks = 16;
  const auto as_measured = plan_of("standard", Layout::regular(16, 1, 1), pattern, m);
  m.operations.ranks = 4;
  EXPECT_NEAR(plan_of("standard", Layout::regular(16, 1, 1), pattern, m) - as_measured, 11, 1e-6)
      << "eleven collectives of four rounds, not two";
}

TEST(PlanCost, OfRelaysIsMoreForTheTrafficThatTheyNeed) {
  const auto layout = Layout::regular(4, 1, 2);
  auto m = machine();
  m.operations.allreduce_s = 1;
  const Pattern pattern{8, {{0, 7, 8}}};
  EXPECT_NEAR(plan_of("three-step", layout, pattern, m) - plan_of("stfw,n=3", layout, pattern, m), 10, 1e-3)
      << "both have three stages";
}

TEST(PlanCost, OfOneRankIsNothing) {
  EXPECT_EQ(plan_of("standard", Layout::regular(1, 1, 1), {1, {{0, 0, 8}}}, machine()), 0);
}

TEST(PlanCost, InClosedFormIsThatOfTheSchedule) {
  const auto layout = Layout::regular(4, 1, 4);
  auto m = machine();
  m.host.by_locality[static_cast<std::size_t>(Locality::socket)] =
      m.host.by_locality[static_cast<std::size_t>(Locality::network)];
  for (const auto* text : {"standard", "two-step", "stfw,n=2", "tuna,radix=4"}) {
    const auto strategy = parse_strategy(text);
    const auto priced = plan_of(text, layout, test::alltoall(16, 100), m);
    EXPECT_NEAR(estimate_plan_seconds({1, 1, 100}, *make_route(strategy, layout), layout, m), priced, 1e-9 * priced)
        << text;
  }
}

}  // namespace
}  // namespace commpass
