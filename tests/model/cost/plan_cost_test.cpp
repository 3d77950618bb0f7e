#include "model/cost/plan_cost.hpp"

#include <gtest/gtest.h>

#include "model/support.hpp"

namespace commpass {
namespace {

constexpr Seconds alpha = 1e-6, allreduce = 7e-6;
constexpr double beta = 1e-9;

Machine machine_that_plans() {
  Machine m;
  m.name = "test";
  test::set_channel(m, standard_level::network, {{Protocol{"eager", test::no_limit, alpha, beta, alpha}}});
  m.copy_rate_bytes_per_s = 1e3;  // so slow that it would show
  m.copy_block_s = 1;
  return m;
}

Seconds plan_of(const std::string& text, const Layout& layout, const Pattern& pattern, const Machine& on) {
  const auto strategy = parse_strategy(text);
  return plan_seconds(make_schedule(*make_route(strategy, layout, pattern), strategy.window, pattern), strategy, layout,
                      on);
}

constexpr Bytes int_bytes = sizeof(int), header_bytes = sizeof(Block);

// How many there are is counted by tests/runtime/plan/collectives_test.cpp.
Seconds collectives_of(const std::string& text, const Layout& layout, const Pattern& pattern, Seconds small_s) {
  const auto strategy = parse_strategy(text);
  const auto route = make_route(strategy, layout, pattern);
  const auto [small, counting, counted_ints] =
      plan_collectives(route->stages(), strategy.coalescing, pattern_need(strategy) != PatternNeed::nothing);
  const auto bytes = static_cast<double>(int_bytes * counted_ints * layout.ranks());
  return (small + counting) * small_s + counting * bytes * beta;
}

TEST(PlanCost, IsHeadersAndCollectives) {
  const auto layout = Layout::regular(4, 1, 1);
  const Pattern pattern{4, {{0, 1, 1000000}, {0, 1, 5}}};
  auto m = machine_that_plans();
  const Seconds headers = alpha + 2 * header_bytes * beta;  // two in one message
  for (const std::string text : {"standard,staggered", "tuna,radix=2", "stfw,n=2", "tuna,radix=2,staggered"}) {
    m.operations.allreduce_s.reset();
    EXPECT_NEAR(plan_of(text, layout, pattern, m), headers + collectives_of(text, layout, pattern, 2 * alpha), 1e-15)
        << text << ", two steps of α where no allreduce was measured";
    m.operations.allreduce_s = allreduce;
    EXPECT_NEAR(plan_of(text, layout, pattern, m), headers + collectives_of(text, layout, pattern, allreduce), 1e-15)
        << text;
  }
}

TEST(PlanCost, IsOneCollectiveWhereReceiversKnowAllThatComes) {
  const auto layout = Layout::regular(8, 1, 1);
  auto m = machine_that_plans();
  m.operations.allreduce_s = allreduce;
  for (const auto* text : {"standard", "standard,window=1", "tuna,radix=8", "stfw,n=1"})
    EXPECT_EQ(plan_of(text, layout, test::alltoall(8, 100), m), allreduce) << text;
}

TEST(PlanCost, HasNoWindow) {
  const auto layout = Layout::regular(8, 1, 1);
  auto m = machine_that_plans();
  m.host.by_level[standard_level::network]->protocols.front().alpha_next_s = alpha / 4;  // so that a window would show
  const auto all = test::alltoall(8, 100);
  EXPECT_EQ(plan_of("stfw,n=2,window=1", layout, all, m), plan_of("stfw,n=2,window=unlimited", layout, all, m));
}

TEST(PlanCost, OfMoreRanksThanWereMeasuredIsLongerCollectives) {
  const Pattern pattern{16, {{0, 15, 8}}};
  auto m = machine_that_plans();
  m.operations.allreduce_s = 1;
  m.operations.ranks = 16;
  const auto as_measured = plan_of("standard", Layout::regular(16, 1, 1), pattern, m);
  m.operations.ranks = 4;
  EXPECT_NEAR(plan_of("standard", Layout::regular(16, 1, 1), pattern, m) - as_measured, 1, 1e-6)
      << "four rounds, not two";
}

TEST(PlanCost, OfOneRankIsNothing) {
  EXPECT_EQ(plan_of("standard", Layout::regular(1, 1, 1), {1, {{0, 0, 8}}}, machine_that_plans()), 0);
}

TEST(PlanCost, InClosedFormIsThatOfTheSchedule) {
  const auto layout = Layout::regular(4, 1, 4);
  auto m = machine_that_plans();
  m.host.by_level[standard_level::socket] = m.host.by_level[standard_level::network];
  // Headers go in the order of the exchange, all at once; the closed form knows no window.
  for (const auto* text : {"standard", "two-step", "stfw,n=2", "tuna,radix=4,window=unlimited"}) {
    const auto strategy = parse_strategy(text);
    const auto priced = plan_of(text, layout, test::alltoall(16, 100), m);
    EXPECT_NEAR(estimate_plan_seconds({1, 1, 100}, *make_route(strategy, layout), layout, m), priced, 1e-9 * priced)
        << text;
  }
}

}  // namespace
}  // namespace commpass
