// A machine that knows ranks of one socket, and a layout of several nodes or sockets: every price is refused, none is a
// crash.
#include <gtest/gtest.h>

#include "model/cost/plan_cost.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {
namespace {

/// Calibrated on ranks of one socket.
Machine machine_of_a_socket() {
  auto machine = test::small_cluster();
  machine.host.by_level[standard_level::network].reset();
  return machine;
}

/// Everything that prices something for a layout, by name.
std::vector<std::pair<const char*, std::function<void()>>> prices(const Layout& layout, const Machine& machine) {
  const int ranks = layout.ranks();
  const auto pattern = generate_pattern("random:ranks=" + std::to_string(ranks) + ",bytes=64,degree=4");
  const auto standard = parse_strategy("standard"), automatic = parse_strategy("tuna,radix=auto");
  const RandomPattern random{0.5, 0.5, 64};
  const auto schedule = test::schedule_of("standard", layout, pattern);
  return {{"rank_strategies", [=] { rank_strategies(pattern, layout, machine); }},
          {"rank_strategies, the cheapest",
           [=] { rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::cheapest); }},
          {"rank_strategies, postal",
           [=] { rank_strategies(pattern, layout, machine, CostModel::postal, {}, {}, RankingDepth::cheapest); }},
          {"rank_strategies, calls", [=] { rank_strategies(pattern, layout, machine, CostModel::burst, {}, 3); }},
          {"price", [=] { price(standard, pattern, layout, machine); }},
          {"price of a family", [=] { price(automatic, pattern, layout, machine); }},
          {"price_promising",
           [=] {
             price_promising(pattern_pricer(pattern, layout, machine, CostModel::burst, {}), pattern, layout, machine,
                             CostModel::burst, {});
           }},
          {"busy_seconds", [=] { busy_seconds(pattern, layout, machine); }},
          {"rank_alltoall", [=] { rank_alltoall(64, layout, machine); }},
          {"rank_one_shot", [=] { rank_one_shot(random, layout, machine); }},
          {"price_one_shot", [=] { price_one_shot(standard, random, layout, machine); }},
          {"SparseChoice", [=] { SparseChoice(layout, machine, true).best(expected_traffic(4, 64, layout)); }},
          {"evaluate", [=] { evaluate(schedule, layout, machine); }},
          {"evaluate, max-rate", [=] { evaluate(schedule, layout, machine, CostModel::max_rate); }},
          {"estimate", [=] { estimate(random, *make_route(standard, layout), {}, layout, machine); }},
          {"small_collective_seconds", [=] { small_collective_seconds(layout, machine); }},
          {"plan_seconds", [=] { plan_seconds(schedule, standard, layout, machine); }},
          {"estimate_plan_seconds",
           [=] { estimate_plan_seconds(random, *make_route(standard, layout), layout, machine); }}};
}

void expect_refusals(const Layout& layout, const Machine& machine, const std::string& level) {
  for (const auto& [name, price] : prices(layout, machine)) {
    SCOPED_TRACE(name);
    test::expect_sentence(test::error_of(price),
                          {"profile test: it has no parameters for '" + level + "'", "calibrate on ranks "});
  }
}

TEST(MissingParameters, OfTheNetworkAreRefused) {
  expect_refusals(Layout::with_ppn(64, 8), machine_of_a_socket(), "network");
}
TEST(MissingParameters, BetweenSocketsAreRefused) {
  expect_refusals(Layout::regular(1, 2, 8), machine_of_a_socket(), "node");
}

TEST(MissingParameters, OfAChannelWithoutProtocolsAreMissing) {
  auto machine = test::small_cluster();
  test::set_channel(machine, standard_level::network, {});
  expect_refusals(Layout::with_ppn(64, 8), machine, "network");
}

TEST(MissingParameters, AreNotAskedForWhereTheLayoutHasNoUseForThem) {
  const auto layout = Layout::with_ppn(16, 16);
  EXPECT_FALSE(missing_parameters(layout, machine_of_a_socket()));
  for (const auto& [name, price] : prices(layout, machine_of_a_socket())) EXPECT_NO_THROW(price()) << name;
}

TEST(MissingParameters, AreThoseOfALocalityWithoutASlowerOne) {
  auto machine = test::small_cluster();
  machine.host.by_level[standard_level::socket].reset();
  EXPECT_FALSE(missing_parameters(Layout::regular(2, 2, 2), machine)) << "the network stands in";
  const auto missing = missing_parameters(Layout::with_ppn(4, 4), Machine());
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->what, "it has no parameters for 'socket', but the layout has several ranks on a socket");
  EXPECT_EQ(missing->remedy, "calibrate on ranks that share a socket");
}

}  // namespace
}  // namespace commpass
