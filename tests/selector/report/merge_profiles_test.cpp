// One profile of several launches and layouts.
#include "model/base/json.hpp"
#include "selector/report/profile_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/machine/pace.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

/// A launch in which a lone message within a socket takes `factor` times as long.
NamedProfile launch(const std::string& name, double factor) {
  NamedProfile result{name, {}};
  auto& machine = result.profile.machine;
  machine.name = "here";
  machine.host.by_level[0] = Channel{{{"eager", std::numeric_limits<Bytes>::max(), factor * 1e-6, factor * 1e-10, 0}}};
  machine.verdict = Verdict{Trust::good, 0.02, "it is made up", {}};
  result.profile.provenance_json = R"({"mpi_library": "MPI 1", "transport": "tcp", "ranks_per_node": )" + name +
                                   R"(, "date": "2026-01-0)" + name + R"("})";
  result.profile.machine.nodes_measured = 2;
  return result;
}

TEST(MergedProfiles, AreTheMedianLaunchAndTellTheDifferencesOfLaunches) {
  const std::vector launches{launch("3", 1.2), launch("1", 1.0), launch("2", 1.1)};
  const auto merged = merge_profiles(launches);
  EXPECT_NEAR(merged.machine.host.by_level[0]->protocols[0].alpha_s, 1.1e-6, 1e-12);
  ASSERT_TRUE(merged.machine.verdict);
  EXPECT_EQ(merged.machine.verdict->trust, Trust::good) << merged.machine.verdict->why;
  EXPECT_NEAR(merged.machine.verdict->uncertainty, 0.1 / 1.1, 1e-9) << "what launches differ by";
  const auto provenance = Json::parse(merged.provenance_json);
  EXPECT_EQ(provenance["origin"]["levels.socket.host"], "2");
  EXPECT_EQ(provenance["mpi_library"], "MPI 1");
  EXPECT_EQ(provenance["transport"], "tcp");
  EXPECT_EQ(provenance["nodes"], 2);
  EXPECT_EQ(provenance["ranks_per_node"], 3) << "what one of them has seen";
  EXPECT_EQ(provenance["date"], "2026-01-01") << "as old as its oldest part";
  EXPECT_EQ(provenance["merged"]["3"]["date"], "2026-01-03");
  EXPECT_EQ(parse_profile(to_json(merged), "again").machine, merged.machine);
}

TEST(MergedProfiles, HaveMemoryOfANode) {
  std::vector launches{launch("3", 1.2), launch("1", 1.0), launch("2", 1.1)};
  for (auto& [name, profile] : launches)
    profile.machine.shared.by_level[0] = Channel{{{"pushed", test::no_limit, std::stod(name) * 1e-7, 1e-11, 1e-8}}};
  const auto merged = merge_profiles(launches);
  ASSERT_TRUE(merged.machine.shared.has(0));
  EXPECT_EQ(merged.machine.shared.by_level[0]->protocols[0].alpha_s, 2e-7);
}

TEST(MergedProfiles, KeepTheTimesOfTheLaunchWhoseChannelTheyKeep) {
  std::vector launches{launch("3", 1.2), launch("1", 1.0), launch("2", 1.1)};
  EXPECT_TRUE(pace_of(merge_profiles(launches)).empty()) << "profiles of earlier versions do not tell";
  for (auto& [name, profile] : launches) {
    auto provenance = Json::parse(profile.provenance_json);
    provenance["pace"] = {{"socket", std::stod(name) * 1e-7}, {"network", 2e-6}, {"another", "one"}};
    profile.provenance_json = provenance.dump();
  }
  const auto paces = pace_of(merge_profiles(launches));
  ASSERT_EQ(paces.size(), 1U) << "no launch has a channel of the network";
  EXPECT_EQ(paces[0].level, "socket");
  EXPECT_EQ(paces[0].seconds, 2e-7);
}

TEST(MergedProfiles, OfLaunchesThatDifferMuchAreNotGood) {
  EXPECT_EQ(merge_profiles(std::vector{launch("1", 1), launch("2", 1.5)}).machine.verdict->trust, Trust::usable);
  EXPECT_EQ(merge_profiles(std::vector{launch("1", 1), launch("2", 3)}).machine.verdict->trust, Trust::none);
  auto doubtful = launch("1", 1);
  doubtful.profile.machine.verdict->trust = Trust::none;
  EXPECT_EQ(merge_profiles(std::vector{doubtful, launch("2", 1)}).machine.verdict->trust, Trust::none);
  EXPECT_EQ(merge_profiles(std::vector{launch("2", 1), doubtful, launch("3", 1)}).machine.verdict->trust, Trust::good)
      << "one of three is an outlier";
}

TEST(MergedProfiles, SayThatTimesAreOfTwoKinds) {
  const auto why = [](std::initializer_list<double> factors) {
    std::vector<NamedProfile> launches;
    for (const double factor : factors) launches.push_back(launch(std::to_string(launches.size() + 1), factor));
    return merge_profiles(launches).machine.verdict->why;
  };
  EXPECT_NE(why({1, 1.01, 1.4, 1.42}).find("levels.socket.host are bimodal"), std::string::npos);
  EXPECT_EQ(why({1, 1.1, 1.2, 1.3}).find("bimodal"), std::string::npos) << "evenly spread";
  EXPECT_EQ(why({1, 1.01, 1.02, 1.9}).find("bimodal"), std::string::npos) << "one is an outlier";
}

/// One that predicted 1 us for an exchange that took so long there.
NamedProfile launch_that_took(const std::string& name, double measured_s, const std::string& layout = "1 node") {
  auto made = launch(name, 1);
  auto provenance = Json::parse(made.profile.provenance_json);
  provenance["layout"] = layout;
  provenance["held_out"] = {
      {{"exchange", "few"}, {"strategy", "standard"}, {"predicted_s", 1e-6}, {"measured_s", measured_s}}};
  made.profile.provenance_json = provenance.dump();
  return made;
}

TEST(MergedProfiles, AreJudgedByThePredictionsOfOneLaunchForTheOthers) {
  const auto judged = [](double one_s, double other_s, const std::string& layout = "1 node") {
    return *merge_profiles(std::vector{launch_that_took("1", one_s), launch_that_took("2", other_s, layout)})
                .machine.verdict;
  };
  EXPECT_EQ(judged(1.1e-6, 1e-6 / 1.1).trust, Trust::good);
  EXPECT_NE(judged(1.1e-6, 1e-6 / 1.1).why.find("off by 10 % (median)"), std::string::npos);
  EXPECT_EQ(judged(1.2e-6, 1.2e-6).trust, Trust::usable) << "to the same side in both";
  EXPECT_EQ(judged(1.4e-6, 1.4e-6).trust, Trust::none);
  EXPECT_EQ(judged(1.4e-6, 1.4e-6, "2 nodes").trust, Trust::good) << "other exchanges, though of the same name";
  auto broken = launch_that_took("1", 1.4e-6);
  broken.profile.provenance_json = R"({"layout": "1 node", "held_out": [1, {}, {"exchange": "few", "strategy": 2}]})";
  EXPECT_EQ(merge_profiles(std::vector{broken, launch_that_took("2", 1.4e-6)}).machine.verdict->trust, Trust::good)
      << "nothing to compare with";
}

TEST(MergedProfiles, HavePredictionIntervalsForAnotherLaunch) {
  const auto launch_of = [](const std::string& name, double alpha_s) {
    auto made = launch(name, 1);
    made.profile.machine.host.by_level[0]->protocols[0].alpha_s = alpha_s;
    return made;
  };
  const double factor = std::exp(0.1);  // the logarithms are -0.1, 0 and 0.1 beyond that of 1e-6
  const auto merged =
      merge_profiles(std::vector{launch_of("1", 1e-6), launch_of("2", 1e-6 * factor), launch_of("3", 1e-6 / factor)});
  const auto fits = Json::parse(merged.provenance_json)["fits"];
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0]["protocol"], "eager");
  EXPECT_EQ(fits[0]["launches"], 3);
  const double half = 4.303 * 0.1 * std::sqrt(4.0 / 3);  // Student's t of two degrees of freedom, one value more
  EXPECT_NEAR(fits[0]["alpha_interval_s"][0].get<double>(), 1e-6 * std::exp(-half), 1e-12);
  EXPECT_NEAR(fits[0]["alpha_interval_s"][1].get<double>(), 1e-6 * std::exp(half), 1e-12);
  EXPECT_NEAR(fits[0]["beta_interval_s_per_byte"][1].get<double>(), 1e-10, 1e-14) << "the same in all";
}

TEST(MergedProfiles, HaveIntervalsOfTheKeptLaunchIfLaunchesAgreeByChance) {
  std::vector<NamedProfile> alike{launch("1", 1), launch("2", 1), launch("3", 1)};
  for (auto& each : alike) {
    auto provenance = Json::parse(each.profile.provenance_json);
    provenance["fits"] = {{{"level", "socket"},
                           {"protocol", "eager"},
                           {"alpha_interval_s", {0.9e-6, 1.2e-6}},
                           {"beta_interval_s_per_byte", {0.8e-10, 0.9e-10}}},
                          {{"level", "node"}, {"protocol", "eager"}, {"alpha_interval_s", {0, 1}}},
                          {{"level", "socket"}, {"protocol", "other"}, {"alpha_interval_s", {"no", nullptr}}}};
    each.profile.provenance_json = provenance.dump();
  }
  const auto fits = Json::parse(merge_profiles(alike).provenance_json)["fits"];
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_NEAR(fits[0]["alpha_interval_s"][0].get<double>(), 0.9e-6, 1e-12);
  EXPECT_NEAR(fits[0]["alpha_interval_s"][1].get<double>(), 1.2e-6, 1e-12);
  EXPECT_NEAR(fits[0]["beta_interval_s_per_byte"][0].get<double>(), 0.8e-10, 1e-14);
  EXPECT_NEAR(fits[0]["beta_interval_s_per_byte"][1].get<double>(), 1e-10, 1e-14)
      << "what the launches say is held, too";
}

TEST(MergedProfiles, CompareLaunchesWhoseProtocolsDiffer) {
  auto one = launch("1", 1), other = launch("2", 1);
  // The same line in two protocols, and one that lies lower from 4096 B on: no time may be negative.
  auto& channel = *other.profile.machine.host.by_level[0];
  channel.protocols.insert(channel.protocols.begin(), channel.protocols[0]);
  channel.protocols[0].max_bytes = 4096;
  const auto fits = Json::parse(merge_profiles(std::vector{one, other}).provenance_json)["fits"];
  for (const auto& fit : fits) {
    EXPECT_NEAR(fit["alpha_interval_s"][0].get<double>(), 1e-6, 1e-11);
    EXPECT_NEAR(fit["alpha_interval_s"][1].get<double>(), 1e-6, 1e-11);
    EXPECT_NEAR(fit["beta_interval_s_per_byte"][1].get<double>(), 1e-10, 1e-14);
  }
  channel.protocols[1].alpha_s = 0;
  const auto lower = Json::parse(merge_profiles(std::vector{one, other}).provenance_json)["fits"];
  for (const auto& fit : lower) EXPECT_GE(fit["alpha_interval_s"][0].get<double>(), 0);
}

TEST(MergedProfiles, OfOtherLayoutsHaveThePartsOfEach) {
  auto one_node = launch("1", 1), two_nodes = launch("2", 1);
  auto& near = one_node.profile.machine;
  auto& far = two_nodes.profile.machine;
  near.operations.allreduce_s = 1e-6;
  near.operations.ranks = 4;
  far.host.by_level[standard_level::network] = far.host.by_level[0];
  far.levels[standard_level::node].up_rate_bytes_per_s = 1e10;
  far.operations.allreduce_s = 9e-6;
  far.operations.ranks = 8;
  const auto merged = merge_profiles(std::vector{one_node, two_nodes}).machine;
  EXPECT_TRUE(merged.host.has(standard_level::network));
  EXPECT_EQ(merged.levels[standard_level::node].up_rate_bytes_per_s, 1e10);
  EXPECT_EQ(merged.operations.ranks, 8) << "of the most ranks";
  EXPECT_EQ(merged.verdict->trust, Trust::good) << "collectives of other numbers of ranks are no spread";
}

TEST(MergedProfiles, HaveTheLevelsOfAll) {
  auto of_node = launch("1", 1), of_cluster = launch("2", 1), of_another = launch("3", 1);
  for (auto* each : {&of_node, &of_another})
    each->profile.machine.levels = {{.name = "socket"}, {.name = "node"}, {.name = "network"}};
  of_cluster.profile.machine.levels[standard_level::node].up_rate_bytes_per_s = 1e10;
  const auto merged = merge_profiles(std::vector{of_node, of_cluster}).machine;
  EXPECT_EQ(merged.levels, of_cluster.profile.machine.levels);
  EXPECT_TRUE(merged.host.has(standard_level::socket));
  of_another.profile.machine.levels[0].name = "tile";
  test::expect_sentence(test::error_of([&] {
                          merge_profiles(std::vector{of_cluster, of_another});
                        }),
                        {"3: level 'tile' is not there in 2", "one machine"});
}

TEST(MergedProfiles, NeedTwo) {
  const std::vector one{launch("1", 1)};
  test::expect_sentence(test::error_of([&] { merge_profiles(one); }), {"profile merge", "name two or more"});
}

}  // namespace
}  // namespace commpass
