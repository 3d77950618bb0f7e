// Routes whose paths a caller lists.
#include "model/route/listed_route.hpp"

#include <gtest/gtest.h>

#include "model/cost/cost.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

/// All pairs, with the paths of a route that does not cut blocks.
ListedRoute list_paths(const Route& route, int ranks) {
  std::vector<ListedPath> paths;
  for (Rank source = 0; source < ranks; ++source)
    for (Rank destination = 0; destination < ranks; ++destination) {
      if (source == destination) continue;
      auto& path = paths.emplace_back(ListedPath{source, destination, std::vector<Rank>(route.stages().size())});
      route.way(source, destination, path.after);
    }
  return {ranks, paths};
}

TEST(ListedRoute, CostsTheSameAsTheListedStrategy) {
  const auto layout = Layout::with_ppn(12, 5);
  const auto machine = test::small_cluster();
  const auto pattern = generate_pattern("random:ranks=12,bytes=3000,degree=5");
  for (const auto* text : {"standard", "two-step", "stfw,n=3", "tuna,radix=3,window=unlimited", "local-then-node"}) {
    const auto strategy = parse_strategy(text);
    const auto route = make_route(strategy, layout);
    auto listed = list_paths(*route, layout.ranks());
    listed.seat(layout);
    const auto expected = evaluate(make_schedule(*route, strategy.window, pattern), layout, machine);
    const auto cost = evaluate(make_schedule(listed, {}, pattern), layout, machine);
    EXPECT_DOUBLE_EQ(cost.seconds, expected.seconds) << text;
    ASSERT_EQ(cost.stages.size(), expected.stages.size()) << text;
    for (std::size_t s = 0; s < cost.stages.size(); ++s)
      EXPECT_EQ(cost.stages[s].bytes_max, expected.stages[s].bytes_max) << text;
  }
}

TEST(ListedRoute, WaitsAtTheDestinationOfAShortPath) {
  const ListedRoute route(3, {{0, 1, {2, 1}}, {0, 2, {2}}}, {"first"});
  EXPECT_EQ(route.stages()[0].label, "first");
  EXPECT_EQ(route.stages()[1].label, "stage 2");
  EXPECT_EQ(route.next({.source = 0, .destination = 2}, 2, 1), 2);
  EXPECT_EQ(route.next({.source = 0, .destination = 1}, 0, 0), 2);
}

TEST(ListedRoute, RefusesPathsThatLeadElsewhere) {
  const auto error_of = [](const std::vector<ListedPath>& paths) -> std::string {
    try {
      ListedRoute route(3, paths);
      return {};
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of({{0, 1, {2}}}), "route: path from 0 to 1: it ends at 2; end it at 1.");
  EXPECT_EQ(error_of({{0, 1, {}}}), "route: path from 0 to 1: it has no hop; end it at 1.");
  EXPECT_EQ(error_of({{0, 1, {3, 1}}}), "route: path from 0 to 1: it has a rank that is not there; use ranks 0 to 2.");
  EXPECT_EQ(error_of({{0, 1, {1}}, {0, 1, {1}}}), "route: path from 0 to 1: it is listed twice; list it once.");
  EXPECT_THROW(ListedRoute(3, {}).next({.source = 0, .destination = 1}, 0, 0), InputError);
}

}  // namespace
}  // namespace commpass
