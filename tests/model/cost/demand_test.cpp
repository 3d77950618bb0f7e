// Windows that keep the limits of messages in flight, against counts that look at every message.
#include "model/cost/demand.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {
namespace {

/// What demand_of says, by maps.
Demand count_one_by_one(const Schedule& schedule, const Layout& layout) {
  Demand demand;
  std::map<std::tuple<int, Rank, int>, std::pair<int, int>> in_batch;
  std::map<Rank, std::set<std::pair<int, Rank>>> partners;
  for (int s = 0; s < std::ssize(schedule.stages); ++s)
    for (const auto& message : schedule.stages[static_cast<std::size_t>(s)].messages) {
      partners[message.from].emplace(s, message.to);
      if (schedule.stages[static_cast<std::size_t>(s)].info.by_library) continue;
      auto& [all, off_node] = in_batch[{s, message.from, message.batch}];
      ++all;
      off_node += layout.node(message.from) != layout.node(message.to) ? 1 : 0;
    }
  for (const auto& [key, counts] : in_batch) {
    demand.messages = std::max<std::int64_t>(demand.messages, counts.first);
    demand.messages_off_node = std::max<std::int64_t>(demand.messages_off_node, counts.second);
  }
  for (const auto& [rank, peers] : partners) demand.partners = std::max(demand.partners, std::ssize(peers));
  return demand;
}

Limits limits_of(int off_node, std::optional<int> all = {}) {
  Limits limits;
  limits.messages_off_node = off_node;
  limits.messages = all;
  return limits;
}

bool is_kept(const Limits& limits, const Demand& demand) { return exceeded_limit(limits, demand, {}) == nullptr; }

class DrawnSchedules : public testing::TestWithParam<unsigned> {};

TEST_P(DrawnSchedules, KeepTheirLimitsWithTheLargestWindowThatDoes) {
  std::mt19937 random(GetParam());
  const auto draw = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  const int ranks = 1 + draw(60);
  const auto layout = Layout::with_ppn(ranks, draw(8));
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (Rank destination = 0; destination < ranks; ++destination)
      if (random() % 3 != 0) pattern.edges.push_back({source, destination, draw(100)});
  const auto limits = limits_of(draw(20), draw(2) == 1 ? std::optional(draw(20)) : std::nullopt);
  for (const char* text : {"standard", "standard,window=7", "standard,staggered", "two-step", "stfw,n=2",
                           "tuna,radix=5", "tuna,radix=9,window=unlimited", "standard,large-first", "mpi"}) {
    const auto strategy = parse_strategy(text);
    if (!catalogue_row(strategy.route).inapplicable(strategy, layout).empty()) continue;
    const auto route = make_route(strategy, layout);
    auto schedule = make_schedule(*route, strategy.window, pattern, strategy.coalescing);
    EXPECT_EQ(demand_of(schedule, layout), count_one_by_one(schedule, layout)) << text;
    const bool was_kept = is_kept(limits, demand_of(schedule, layout));
    const auto window = window_within(limits, schedule, layout, strategy);
    if (!takes_window(strategy)) {
      EXPECT_EQ(window, strategy.window) << text;
      continue;
    }
    EXPECT_EQ(window == strategy.window, was_kept) << text;
    set_window(*route, schedule, window);
    EXPECT_TRUE(is_kept(limits, demand_of(schedule, layout))) << text << ", " << window.rounds;
    if (was_kept) continue;
    // No power of two between this window and the wanted one keeps them.
    for (int rounds = 1 << 12; rounds > window.rounds; rounds /= 2) {
      if (!strategy.window.unlimited() && rounds >= strategy.window.rounds) continue;
      set_window(*route, schedule, {rounds});
      if (!is_kept(limits, demand_of(schedule, layout))) continue;
      ADD_FAILURE() << text << ": " << rounds << " rounds keep the limits, but " << window.rounds << " were taken";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrawnSchedules, testing::Range(0U, 40U));

TEST(Demand, OfAnAllToAllIsThatOfItsSchedule) {
  const auto layout = Layout::with_ppn(96, 8);
  const auto pattern = generate_pattern("alltoall:ranks=96,bytes=8");
  for (const char* text : {"standard", "standard,window=5", "two-step", "stfw,dims=4x6x4", "tuna,radix=3"}) {
    const auto strategy = parse_strategy(text);
    const auto route = make_route(strategy, layout);
    for (const int limit : {1, 7, 64, 1000}) {
      const auto limits = limits_of(limit);
      const auto [window, demand] = fit(limits, {1, 1, 8}, *route, layout, strategy);
      auto schedule = make_schedule(*route, strategy.window, pattern);
      EXPECT_EQ(window, window_within(limits, schedule, layout, strategy)) << text << ", " << limit;
      set_window(*route, schedule, window);
      EXPECT_EQ(demand.messages_off_node, demand_of(schedule, layout).messages_off_node) << text << ", " << limit;
    }
  }
}

// 3583 partners of a rank are never all in flight (Dane, 32 nodes of 112 ranks).
TEST(Demand, OfSendingDirectlyToThousandsIsSixtyFourAtOnce) {
  const auto layout = Layout::with_ppn(3584, 112);
  const auto direct = parse_strategy("standard");
  const auto [window, demand] = fit({}, {1, 1, 8}, *make_route(direct, layout), layout, direct);
  EXPECT_EQ(window.rounds, default_messages_off_node);
  EXPECT_LE(demand.messages_off_node, default_messages_off_node);
  EXPECT_EQ(demand.partners, 3583);
}

// Where few pairs of ranks exchange anything, the rounds of many fit into one window.
TEST(Demand, OfFewPartnersNeedsNoWindow) {
  const auto layout = Layout::with_ppn(1024, 32);
  const auto direct = parse_strategy("standard");
  const auto route = make_route(direct, layout);
  constexpr double eight = 8.0 / 1024;
  EXPECT_TRUE(fit({}, {eight, eight, 8}, *route, layout, direct).window.unlimited());
  constexpr double hundred = 100.0 / 1024;
  const auto [window, demand] = fit({}, {hundred, hundred, 8}, *route, layout, direct);
  EXPECT_GE(window.rounds, 256);
  EXPECT_LE(demand.messages_off_node, default_messages_off_node);
}

TEST(Demand, ThatExceedsALimitNamesIt) {
  Limits limits{.messages_off_node = 4, .messages = 8, .partners = 16, .buffer_bytes = 100};
  EXPECT_EQ(exceeded_limit(limits, {4, 8, 16}, 100), nullptr);
  EXPECT_STREQ(exceeded_limit(limits, {5, 8, 16}, 100), "messages_off_node");
  EXPECT_STREQ(exceeded_limit(limits, {4, 9, 16}, 100), "messages");
  EXPECT_STREQ(exceeded_limit(limits, {4, 8, 17}, 100), "partners");
  EXPECT_STREQ(exceeded_limit(limits, {4, 8, 16}, 101), "buffer_bytes");
  EXPECT_EQ(exceeded_limit({}, {64, 1000, 1000}, std::nullopt), nullptr);
  EXPECT_STREQ(exceeded_limit({}, {65, 1000, 1000}, std::nullopt), "messages_off_node");
}

}  // namespace
}  // namespace commpass
