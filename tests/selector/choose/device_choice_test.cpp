// The choice for data on devices: which paths are offered, and which is taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/explain.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/choose/select.hpp"

namespace commpass {
namespace {

Machine lassen() { return read_profile(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json").machine; }

const Layout full_nodes = Layout::regular(4, 2, 20), device_ranks = Layout::regular(16, 2, 2);

std::vector<std::string> texts_of(const std::vector<DataPath>& paths) {
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(to_string(path));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(OfferedPaths, AreThoseThatTheProfilePrices) {
  EXPECT_EQ(texts_of(offered_paths(DataPlace::host, full_nodes, lassen())), (Texts{""}));
  EXPECT_EQ(texts_of(offered_paths(DataPlace::device, full_nodes, lassen())),
            (Texts{"@device", "@staged", "@staged,copies=4", "@staged,copies=8", "@staged,copies=10"}));
  EXPECT_EQ(texts_of(offered_paths(DataPlace::device, device_ranks, lassen())),
            (Texts{"@device", "@staged", "@staged,copies=4"}))
      << "a node has four ranks";
  auto machine = lassen();
  machine.device = {};
  EXPECT_EQ(texts_of(offered_paths(DataPlace::device, device_ranks, machine)), (Texts{"@staged", "@staged,copies=4"}));
  machine.host_to_device.resize(1);
  EXPECT_EQ(texts_of(offered_paths(DataPlace::device, device_ranks, machine)), (Texts{"@staged"}));
  machine.host_to_device.clear();
  test::expect_sentence(test::error_of([&] { offered_paths(DataPlace::device, device_ranks, machine); }),
                        {"profile lassen", "neither device messages nor copies"});
}

TEST(OfferedPaths, GoThroughMemoryOfANodeWhereItWasMeasured) {
  auto machine = lassen();
  EXPECT_NE(lacking(parse_strategy("standard,shared"), machine, CostModel::burst).find("levels.*.shared"),
            std::string::npos);
  machine.shared.by_level[standard_level::socket] = Channel{{{.name = "pushed", .alpha_s = 1e-7}}};
  EXPECT_EQ(texts_of(offered_paths(DataPlace::host, full_nodes, machine)), (Texts{"", ",shared"}));
  EXPECT_EQ(texts_of(offered_paths(DataPlace::host, Layout::regular(4, 1, 1), machine)), (Texts{""}));
  EXPECT_EQ(lacking(parse_strategy("standard,shared"), machine, CostModel::burst), "");
  EXPECT_EQ(lacking(parse_strategy("standard,shared"), machine, CostModel::burst, Usage::once), "");

  const auto pattern = generate_pattern("random:ranks=40,bytes=64,degree=6");
  const auto layout = Layout::regular(1, 2, 20);
  const auto paths = offered_paths(DataPlace::host, layout, machine);
  const auto ranking = rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::all, paths);
  EXPECT_TRUE(ranking.front().strategy.path.is_shared) << to_string(ranking.front().strategy);
  const std::vector<Strategy> named{parse_strategy("standard")};
  EXPECT_EQ(rank_strategies(pattern, layout, machine, CostModel::burst, named, {}, RankingDepth::all, paths).size(), 1)
      << "a strategy that names no path goes by messages";
  for (const auto& candidate : ranking)
    EXPECT_FALSE(candidate.strategy.route == "mpi" && candidate.strategy.path.is_shared);
}

TEST(OfferedPaths, OfARouteThatForwardsNeedWhatPackingIsPricedBy) {
  auto machine = lassen();
  machine.device_to_host.clear();
  const auto reason = lacking(parse_strategy("two-step@device"), machine, CostModel::burst);
  EXPECT_NE(reason.find("copy.device_to_host"), std::string::npos) << reason;
  EXPECT_EQ(lacking(parse_strategy("two-step@device"), machine, CostModel::postal), "");
  EXPECT_EQ(lacking(parse_strategy("standard@device"), machine, CostModel::burst), "");
  EXPECT_NE(lacking(parse_strategy("standard@staged"), machine, CostModel::burst), "");
  auto measured = machine;
  measured.device_copy_call_s = 1e-6;
  EXPECT_EQ(lacking(parse_strategy("two-step@device"), measured, CostModel::burst), "");
  const auto paths = offered_paths(DataPlace::device, device_ranks, machine);
  for (const auto& strategy : offered_strategies(device_ranks, machine, CostModel::burst, Usage::planned, paths))
    EXPECT_EQ(strategy.route + to_string(strategy.path), "standard@device");
}

TEST(OfferedPaths, KnowNothingOfTheLibrarysCollectiveOnDevices) {
  auto machine = lassen();
  machine.operations.neighbor_alltoall_s = 0;
  EXPECT_EQ(lacking(parse_strategy("mpi@staged"), machine, CostModel::burst), "");
  EXPECT_NE(lacking(parse_strategy("mpi@device"), machine, CostModel::burst), "");
}

TEST(RankingOnDevices, HoldsEveryStrategyOnEveryPathAndPricesItAsEvaluateDoes) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=2KiB,degree=10");
  const auto machine = lassen();
  const auto paths = offered_paths(DataPlace::device, device_ranks, machine);
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    const auto ranking = rank_strategies(pattern, device_ranks, machine, model, {}, {}, RankingDepth::all, paths);
    std::set<std::string> ranked;
    for (const auto& candidate : ranking) {
      const auto& strategy = candidate.strategy;
      EXPECT_TRUE(ranked.insert(to_string(strategy)).second) << to_string(strategy);
      EXPECT_FALSE(strategy.path.is_host()) << to_string(strategy);
      const auto seconds = evaluate(test::schedule_of(to_string(strategy), device_ranks, pattern), device_ranks,
                                    machine, model, Usage::planned, strategy.path)
                               .seconds;
      EXPECT_NEAR(candidate.cost.seconds, seconds, 1e-8 * seconds) << to_string(strategy);
    }
    for (const auto& strategy : suggest_strategies(device_ranks))
      for (const auto* path : {"@device", "@staged"})
        EXPECT_EQ(ranked.contains(to_string(strategy) + path), strategy.route != "mpi") << to_string(strategy) << path;
    EXPECT_TRUE(ranked.contains("split,cap=16KiB@staged,copies=4")) << "the paper's Split + DD";
  }
}

TEST(RankingOnDevices, ComparesPathsOfNamedStrategies) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=2KiB,degree=10");
  const auto machine = lassen();
  const std::vector named{parse_strategy("two-step"), parse_strategy("standard@device")};
  std::set<std::string> ranked;
  for (const auto& candidate :
       rank_strategies(pattern, device_ranks, machine, CostModel::burst, named, {}, RankingDepth::all,
                       offered_paths(DataPlace::device, device_ranks, machine)))
    ranked.insert(to_string(candidate.strategy));
  EXPECT_EQ(ranked, (std::set<std::string>{"two-step@device", "two-step@staged", "two-step@staged,copies=4",
                                           "standard@device"}));
}

TEST(RankingOnDevices, TriesMoreProcessesThatCopyWithWhateverIsCheapest) {
  auto machine = lassen();
  machine.device = {};
  for (auto* const copies : {&machine.device_to_host, &machine.host_to_device})
    for (auto& copy : *copies)
      if (copy.processes == 4) copy.alpha_s = copy.beta_s_per_byte = 0;
  const auto pattern = generate_pattern("random:ranks=64,bytes=64,degree=20");
  const auto ranking = rank_strategies(pattern, device_ranks, machine, CostModel::burst, {}, {}, RankingDepth::all,
                                       offered_paths(DataPlace::device, device_ranks, machine));
  EXPECT_EQ(ranking.front().strategy.path.copies, 4);
  EXPECT_NE(ranking.front().strategy.route, "standard");
  EXPECT_NE(ranking.front().strategy.route, "split");
}

TEST(RankingOnDevices, RefusesMoreProcessesThanANodeHas) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=2KiB,degree=10");
  const std::vector named{parse_strategy("standard@staged,copies=8")};
  const auto error = test::error_of([&] { rank_strategies(pattern, device_ranks, lassen(), CostModel::burst, named); });
  EXPECT_NE(error.find("no node has 8 ranks to copy with"), std::string::npos) << error;
}

TEST(RankingOnDevices, OfALargePatternFindsTheSameByItsBusiestRanks) {
  const auto machine = lassen();
  const auto paths = offered_paths(DataPlace::device, full_nodes, machine);
  for (const auto* text : {"random:ranks=160,bytes=300,degree=40", "random:ranks=160,bytes=40000,degree=40"}) {
    const auto pattern = generate_pattern(text);
    const auto rank = [&](RankingDepth depth) {
      return rank_strategies(pattern, full_nodes, machine, CostModel::burst, {}, {}, depth, paths).front();
    };
    const auto all = rank(RankingDepth::all), cheapest = rank(RankingDepth::cheapest);
    EXPECT_EQ(to_string(cheapest.strategy), to_string(all.strategy)) << text;
    EXPECT_EQ(cheapest.cost.seconds, all.cost.seconds);
  }
}

TEST(RankingOnDevices, HasAClosedFormForAllToAlls) {
  const auto machine = lassen();
  const auto paths = offered_paths(DataPlace::device, device_ranks, machine);
  const auto small = rank_alltoall(8, device_ranks, machine, CostModel::burst, {}, {}, paths),
             large = rank_alltoall(1 << 20, device_ranks, machine, CostModel::burst, {}, {}, paths);
  for (const auto& candidate : small) EXPECT_FALSE(candidate.strategy.path.is_host());
  EXPECT_EQ(small.front().strategy.path.kind, DataPath::Kind::staged);
  for (const auto& candidate : large) EXPECT_GE(candidate.cost.seconds, large.front().cost.seconds);
}

TEST(TheUsersWay, IsDirectFromDevicesWhereThatHasAPriceElseThroughTheHost) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=2KiB,degree=10");
  auto machine = lassen();
  const auto way = [&] {
    const auto ranking = rank_strategies(pattern, device_ranks, machine, CostModel::burst, {}, {}, RankingDepth::all,
                                         offered_paths(DataPlace::device, device_ranks, machine));
    const auto* const users = users_way(ranking, DataPlace::device);
    return users ? to_string(users->strategy) : "";
  };
  EXPECT_EQ(way(), "standard@device");
  machine.device = {};
  EXPECT_EQ(way(), "standard@staged");
  EXPECT_EQ(users_way(rank_strategies(pattern, device_ranks, machine), DataPlace::device), nullptr);
}

TEST(TheUsersWay, IsComparedWithInExplanations) {
  const auto pattern = generate_pattern("random:ranks=64,bytes=2KiB,degree=10");
  const auto machine = lassen();
  const auto ranking = rank_strategies(pattern, device_ranks, machine, CostModel::burst, {}, {}, RankingDepth::all,
                                       offered_paths(DataPlace::device, device_ranks, machine));
  const auto staged = std::ranges::find(ranking, parse_strategy("two-step@staged"), &Candidate::strategy);
  const auto text = explain(ranking, static_cast<std::size_t>(staged - ranking.begin()));
  for (const auto* part :
       {"stage 1 (copies to host memory): up to 20 KiB by a rank", "(copies to devices)",
        "sending directly from devices (standard@device", "copied through host memory (standard@staged"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST(NotesOnDevices, TellWhereMoreProcessesCopyThanWereMeasured) {
  auto machine = lassen();
  const std::vector<Candidate> ranking{{parse_strategy("standard@staged"), {}}};
  const auto note = [&] { return profile_note(machine, full_nodes, CostModel::burst, ranking); };
  EXPECT_EQ(note().find("processes"), std::string::npos) << note();
  machine.devices_per_node = 2;
  EXPECT_NE(note().find("copies by more than 10 processes of a device at once: up to 20 are priced like these"),
            std::string::npos)
      << note();
}

}  // namespace
}  // namespace commpass
