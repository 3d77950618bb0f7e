// commpass calibrate, measure and doctor, as they are started under mpirun.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "command/run.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {
namespace {

using test::Result;

Result mpirun(int ranks, const std::string& arguments, const std::string& variables = {}) {
  return test::run(COMMPASS_TEST_MPIEXEC " " + std::to_string(ranks) +
                       " " COMMPASS_TEST_MPIEXEC_FLAGS " " COMMPASS_TEST_COMMAND " " + arguments,
                   variables);
}

/// The lines of stderr that are ours: launchers add theirs when a program fails.
std::vector<std::string> our_lines(const Result& result) {
  std::vector<std::string> lines;
  for (const auto& line : split(result.err, '\n'))
    if (line.starts_with("commpass: ")) lines.push_back(line);
  return lines;
}

void expect_our_sentence(const Result& result, const std::vector<std::string>& parts) {
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const auto lines = our_lines(result);
  ASSERT_EQ(lines.size(), 1U) << "one rank speaks: " << result.err;
  EXPECT_TRUE(lines[0].ends_with(".")) << lines[0];
  for (const auto& part : parts)
    EXPECT_NE(lines[0].find(part), std::string::npos) << "'" << part << "' is not in: " << lines[0];
}

TEST(Calibrate, WritesAValidProfileAndNothingElse) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("here.json");
  const auto result = mpirun(2, "calibrate --budget 2s --name here -o " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(directory.names(), std::vector<std::string>{"here.json"});
  const auto profile = read_profile(file);
  EXPECT_EQ(profile.machine.name, "here");
  EXPECT_FALSE(profile.machine.host.has(standard_level::network)) << "both ranks are on this host";
  EXPECT_TRUE(profile.machine.host.has(standard_level::socket) || profile.machine.host.has(standard_level::node));
  EXPECT_TRUE(profile.machine.operations.neighbor_alltoall_s.has_value())
      << "what the MPI library's own collective costs";
  EXPECT_TRUE(profile.machine.operations.alltoallv_s.has_value());
  const auto provenance = Json::parse(profile.provenance_json);
  for (const auto* key :
       {"date", "mpi_library", "layout", "ranks", "host_hash", "samples", "fits", "held_out", "not_measured"})
    EXPECT_TRUE(provenance.contains(key)) << key;
  EXPECT_EQ(provenance["ranks"], 2);
  EXPECT_TRUE(provenance["host_hash"].get<std::string>().starts_with("sha256:"));
  EXPECT_EQ(test::run(COMMPASS_TEST_COMMAND " profile validate " + file).exit_code, 0);
}

TEST(Calibrate, JudgesItselfAndSaysSo) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("here.json");
  const auto result = mpirun(2, "calibrate --budget 2s -o " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto verdict = read_profile(file).machine.verdict;
  ASSERT_TRUE(verdict);
  // Lines that are too wide are broken.
  const auto joined = [](const std::string& text) { return std::regex_replace(text, std::regex("\n +"), " "); };
  EXPECT_NE(result.err.find(std::string("verdict: ") + name_of(verdict->trust) + "; predictions within "),
            std::string::npos)
      << result.err;
  const auto why = " why: " + verdict->why;
  EXPECT_NE(joined(result.err).find(why), std::string::npos) << result.err;
  EXPECT_NE(joined(test::run(COMMPASS_TEST_COMMAND " profile show " + file).out).find(why), std::string::npos);
  const auto validated = test::run(COMMPASS_TEST_COMMAND " profile validate " + file).out;
  EXPECT_NE(joined(validated).find(why), std::string::npos);
  std::istringstream lines(validated);
  for (std::string line; std::getline(lines, line);) {
    // That time falls from one protocol to the next is kept where the samples leave no doubt, as they do on some
    // machines.
    if (line.starts_with("Warning") && line.find("one byte more") == std::string::npos)
      ADD_FAILURE() << "a parameter of our own breaks a rule: " << line;
  }
  const auto provenance = Json::parse(read_profile(file).provenance_json);
  if (std::thread::hardware_concurrency() >= 2) {
    EXPECT_GE(provenance["held_out"].size(), 6U) << "one is of several stages, which two ranks of a host do not have";
  }
}

TEST(Measure, SaysThatRanksTakeTurns) {
  const auto ranks = static_cast<int>(std::thread::hardware_concurrency()) + 1;
  constexpr int most = 5;  // more are slow
  if (ranks > most) GTEST_SKIP() << "this machine has a core for each rank";
  const auto result =
      mpirun(ranks, "measure --profile lassen --strategy standard --repetitions 3 --generate alltoall:bytes=8,ranks=" +
                        std::to_string(ranks));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("take turns"), std::string::npos) << result.err;
}

TEST(Calibrate, MeasuresTheNetworkOfTwoNodes) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("two.json");
  const auto result = mpirun(2, "calibrate --budget 2s --ppn 1 --json -o " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto machine = read_profile(file).machine;
  ASSERT_TRUE(machine.host.has(standard_level::network));
  for (const auto& protocol : machine.host.find(standard_level::network)->protocols) {
    EXPECT_GT(protocol.alpha_s + protocol.beta_s_per_byte, 0);
    EXPECT_LT(protocol.alpha_s, 1);
  }
  EXPECT_GT(machine.copy_rate_bytes_per_s, 0);
  EXPECT_TRUE(machine.operations.barrier_s.has_value());
  EXPECT_EQ(parse_profile(result.out, "stdout").machine, machine) << "--json gives the same profile";
  EXPECT_EQ(test::run(COMMPASS_TEST_COMMAND " predict --ppn 2 --generate alltoall:ranks=4,bytes=8 --profile " + file)
                .exit_code,
            0)
      << "it can be used";
}

bool lacks(const Json& provenance, const std::string& what) {
  return std::ranges::any_of(provenance["not_measured"],
                             [&](const Json& reason) { return reason.get<std::string>().starts_with(what); });
}

TEST(Calibrate, ChecksExchangesThatNoFitHasSeenOrSaysWhyNot) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("here.json");
  const auto result = mpirun(2, "calibrate --budget 2s -o " + file, "COMMPASS_STRATEGY=standard,window=1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto provenance = Json::parse(read_profile(file).provenance_json);
  const auto& held_out = provenance["held_out"];
  if (std::thread::hardware_concurrency() == 1) {  // two ranks take turns
    EXPECT_TRUE(held_out.empty());
    EXPECT_TRUE(lacks(provenance, "held_out"));
    return;
  }
  ASSERT_GE(held_out.size(), 6U);
  for (const auto& each : held_out) {
    EXPECT_GT(each["predicted_s"].get<double>(), 0);
    EXPECT_GT(each["measured_s"].get<double>(), 0);
    EXPECT_DOUBLE_EQ(each["error"].get<double>(),
                     each["predicted_s"].get<double>() / each["measured_s"].get<double>() - 1);
    EXPECT_NE(result.err.find("held-out exchange '" + each["exchange"].get<std::string>() + "' by " +
                              each["strategy"].get<std::string>()),
              std::string::npos)
        << result.err;
  }

  // A profile of when the machine was far slower.
  auto slow = Json::parse(to_json(read_profile(file)));
  ASSERT_GT(slow["provenance"]["pace"]["socket"].get<double>(), 0);
  slow["provenance"]["pace"]["socket"] = 1000.0;
  slow["verdict"] = {{"trust", "good"}, {"uncertainty", 0.1}, {"why", "it is made up"}};
  const auto slow_file = directory.write("slow.json", slow.dump());
  const auto measured = mpirun(2, "measure --generate alltoall:ranks=2,bytes=8 --repetitions 3 --profile " + slow_file);
  EXPECT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_NE(measured.err.find("and took 1000 s when the profile was measured: the machine is faster than it was.\n"),
            std::string::npos)
      << measured.err;
}

// Three ranks, of which some have nothing to receive in short bursts. On fewer cores they take turns.
TEST(Calibrate, OfThreeRanksMeasuresReceiversAndTimesNoRankThatTakesTurns) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("three.json");
  const auto result = mpirun(3, "calibrate --budget 0.5s --layout node=1,numa=1,core=3 -o " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto profile = read_profile(file);
  ASSERT_EQ(profile.machine.levels.size(), 3U);
  for (Level level = 0; const char* name : {"numa", "node", "network"})
    EXPECT_EQ(profile.machine.name_of(level++), name);
  const auto provenance = Json::parse(profile.provenance_json);
  const auto& protocol = profile.machine.host.find(0)->protocols.front();
  EXPECT_TRUE(protocol.alpha_receive_s ||
              lacks(provenance, "levels.numa.host." + protocol.name + ": alpha_receive_s") ||
              lacks(provenance, "levels.numa.host.alpha_receive_s: no time was left"));
  const bool crowded = std::thread::hardware_concurrency() < 3;
  EXPECT_EQ(provenance.value("warning", std::string()).find("take turns") != std::string::npos, crowded);
  EXPECT_EQ(provenance["held_out"].empty(), crowded);
  EXPECT_EQ(lacks(provenance, "held_out"), crowded);
}

TEST(Calibrate, MeasuresOperationsAndDatatypesButNothingThatNeedsMoreNodes) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("here.json");
  ASSERT_EQ(mpirun(2, "calibrate --budget 2s --ppn 1 -o " + file).exit_code, 0);
  const auto profile = read_profile(file);
  const auto provenance = Json::parse(profile.provenance_json);
  const auto& operations = profile.machine.operations;
  EXPECT_EQ(operations.ranks, 2);
  EXPECT_GT(operations.barrier_s.value_or(0), 0);
  EXPECT_TRUE(operations.probe_s.has_value());
  if (!lacks(provenance,
             "operations.put_s")) {  // Open MPI needs single copies for windows, and the tests switch them off
    EXPECT_GT(operations.window_s.value_or(0), 0);
    EXPECT_GT(operations.put_s.value_or(0) + operations.fence_s.value_or(0), 0);
  } else {
    EXPECT_FALSE(operations.put_s || operations.fence_s || operations.window_s);
  }
  EXPECT_GT(profile.machine.datatype_rate_bytes_per_s.value_or(0), 0);
  EXPECT_TRUE(profile.machine.datatype_block_s.has_value());
  EXPECT_TRUE(std::isinf(profile.machine.levels[standard_level::node].down_rate_bytes_per_s));
  EXPECT_TRUE(lacks(provenance, "levels.node.down_rate_bytes_per_s: needs three nodes"));
}

TEST(Calibrate, StartsSeveralLaunchesAndJoinsThem) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("here.json");
  const auto started = test::run("env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " COMMPASS_TEST_COMMAND
                                 " calibrate --launches 2 --budget 1s --name here -o " +
                                 file + " -- " COMMPASS_TEST_MPIEXEC " 2 " COMMPASS_TEST_MPIEXEC_FLAGS);
  ASSERT_EQ(started.exit_code, 0) << started.err;
  EXPECT_EQ(started.out, "");
  EXPECT_EQ(directory.names(), std::vector<std::string>{"here.json"}) << "what the launches wrote is gone";
  const auto profile = read_profile(file);
  EXPECT_EQ(profile.machine.name, "here");
  ASSERT_TRUE(profile.machine.verdict);
  EXPECT_NE(profile.machine.verdict->why.find("2 profiles"), std::string::npos) << profile.machine.verdict->why;
  const auto provenance = Json::parse(profile.provenance_json);
  EXPECT_TRUE(provenance.contains("spread_between_profiles"));
  for (const auto* launch : {"launch 1 of 2", "launch 2 of 2"})
    EXPECT_TRUE(provenance["merged"][launch].contains("fits")) << "with the intervals within it: " << launch;
}

TEST(Measure, StartsSeveralLaunchesAndTellsTheirRange) {
  const auto measure = [](const std::string& switches) {
    return test::run("env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " COMMPASS_TEST_COMMAND
                     " measure --launches 2 --profile generic --generate alltoall:ranks=2,bytes=64 --repetitions 5 " +
                     switches + " -- " COMMPASS_TEST_MPIEXEC " 2 " COMMPASS_TEST_MPIEXEC_FLAGS);
  };
  const auto told = measure("--json");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const auto json = Json::parse(told.out);
  EXPECT_EQ(json["launches"], 2);
  ASSERT_FALSE(json["ranking"].empty());
  for (const auto& row : json["ranking"]) {
    EXPECT_LE(row["measured_interval_s"][0].get<double>(), row["measured_s"].get<double>());
    EXPECT_GE(row["measured_interval_s"][1].get<double>(), row["measured_s"].get<double>());
  }
  EXPECT_NE(measure("").out.find("in all launches"), std::string::npos);
  test::expect_one_sentence(measure("--csv"), {"--csv", "--json"});
}

TEST(Measure, RepeatsNoWarningOfItsLaunches) {
  const auto told = test::run(COMMPASS_TEST_COMMAND
                              " measure --launches 3 --profile generic --generate alltoall:ranks=2,bytes=64 -- "
                              "sh -c 'echo \"commpass: beware\" >&2; echo another >&2; exit 1'");
  const auto twice =
      test::run("env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " COMMPASS_TEST_COMMAND
                " measure --launches 2 --profile generic --generate alltoall:ranks=2,bytes=64 --repetitions 5 -- "
                "sh -c 'echo \"commpass: beware\" >&2; echo another >&2; exec \"$@\"' sh " COMMPASS_TEST_MPIEXEC
                " 2 " COMMPASS_TEST_MPIEXEC_FLAGS);
  const auto count = [&](const std::string& line) {
    int found = 0;
    for (auto at = twice.err.find(line); at != std::string::npos; at = twice.err.find(line, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(twice.exit_code, 0) << twice.err;
  EXPECT_EQ(count("commpass: beware\n"), 1) << twice.err;
  EXPECT_EQ(count("another\n"), 2) << "which is not ours";
  EXPECT_NE(told.err.find("commpass: beware\nanother\n"), std::string::npos) << told.err;
}

TEST(Calibrate, TellsOfALaunchThatFailsAndLeavesNothing) {
  const test::TemporaryDirectory directory;
  const auto launches = std::string(COMMPASS_TEST_COMMAND " calibrate --launches 2 -o ") + directory.path("x.json");
  test::expect_one_sentence(test::run(launches + " -- /bin/none"), {"/bin/none", "cannot be started"});
  const auto failed = test::run(launches + " -- false");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_NE(failed.err.find("launch 1 of 2: 'false "), std::string::npos) << failed.err;
  EXPECT_EQ(test::run(launches).exit_code, 2) << "nothing starts them";
  EXPECT_EQ(test::run(std::string(COMMPASS_TEST_COMMAND " calibrate -o x -- mpirun")).exit_code, 2);
  expect_our_sentence(mpirun(2, "calibrate --launches 2 -o " + directory.path("x.json") + " -- mpirun -n 2"),
                      {"--launches", "has started this already"});
  EXPECT_TRUE(directory.names().empty());
}

TEST(Calibrate, WritesWhereCommandsLookAndTheyTakeWhatItWrote) {
  const test::TemporaryDirectory directory;
  const auto user = "XDG_CONFIG_HOME=" + directory.path("new");
  const auto file = directory.path("new/commpass/this-machine.json");
  const std::string pattern = " --generate alltoall:ranks=2,bytes=64 ";
  const auto first = mpirun(2, "calibrate --budget 1s", user);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("commpass: wrote " + file), std::string::npos) << first.err;
  EXPECT_EQ(first.err.find("is replaced"), std::string::npos) << first.err;
  const auto line = "commpass: profile this-machine (" + file + "), as none is named.";
  for (const auto& told : {test::run(COMMPASS_TEST_COMMAND " predict --ppn 2" + pattern, user),
                           mpirun(2, "measure --repetitions 3 --strategy standard" + pattern, user)}) {
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(std::ranges::count(our_lines(told), line), 1) << told.err;
  }
  EXPECT_EQ(mpirun(2, "calibrate --budget 1s", user).err.find("is replaced"), std::string::npos) << "the same machine";
  auto elsewhere = Json::parse(test::contents_of(file));
  elsewhere["provenance"]["processor"] = "Processor 9";
  directory.write("new/commpass/this-machine.json", elsewhere.dump());
  const auto replaced = mpirun(2, "calibrate --budget 1s", user);
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  const auto one_line = std::regex_replace(replaced.err, std::regex("\n  "), " ");  // as it was before it was wrapped
  EXPECT_NE(one_line.find(file + " is replaced, which was measured on another machine (Processor 9, "),
            std::string::npos)
      << replaced.err;
  EXPECT_EQ(Json::parse(test::contents_of(file)).value("name", std::string()), "this-machine");
}

TEST(Calibrate, KeepsToItsBudgetOnABusyMachineAndTellsWhatItLeftOut) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("busy.json");
  std::atomic<bool> done = false;
  std::vector<std::jthread> others;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    others.emplace_back([&done] {
      while (!done) continue;
    });
  const auto begin = std::chrono::steady_clock::now();
  const auto result = mpirun(2, "calibrate --budget 2s -o " + file);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  done = true;
  ASSERT_EQ(result.exit_code, 0) << result.err;
  constexpr double generous_s = 20;  // it took a minute; it is to take 4.5 s
  EXPECT_LT(elapsed.count(), generous_s) << result.err;
  const auto provenance = Json::parse(read_profile(file).provenance_json);
  const auto told = result.err.find("commpass: no time was left of the budget for ");
  EXPECT_EQ(told != std::string::npos,
            provenance["not_measured"].dump().find("no time was left of the budget") != std::string::npos)
      << result.err;
}

TEST(Calibrate, PlansWithoutMeasuring) {
  const auto text = test::run(COMMPASS_TEST_COMMAND " calibrate --plan --layout 2x2x4 --budget 2min");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("budget: 120 s\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("levels.node.down_rate_bytes_per_s  needs three nodes"), std::string::npos) << text.out;
  const auto result = mpirun(2, "calibrate --plan --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto plan = Json::parse(result.out);
  const auto keys = [&](const char* list) {
    std::set<std::string> found;
    for (const auto& each : plan[list]) found.insert(each["parameters"].get<std::string>());
    return found;
  };
  EXPECT_TRUE(keys("experiments").contains("local.copy_rate_bytes_per_s"));
  EXPECT_TRUE(keys("not_identified").contains("levels.network.host")) << "both ranks are on this host";
  expect_our_sentence(test::run(COMMPASS_TEST_COMMAND " calibrate --plan"), {"--plan", "one rank", "--layout"});
}

TEST(Calibrate, NeedsTwoRanks) {
  const test::TemporaryDirectory directory;
  expect_our_sentence(mpirun(1, "calibrate --budget 1s -o " + directory.path("one.json")),
                      {"calibrate", "one rank", "mpirun -n 2"});
  EXPECT_TRUE(directory.names().empty());
}

TEST(Calibrate, RefusesBadInputOnceAndLeavesNothing) {
  const test::TemporaryDirectory directory;
  expect_our_sentence(mpirun(2, "calibrate --budget soon -o " + directory.path("x.json")), {"--budget soon", "60s"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1s --layout 3x3 -o " + directory.path("x.json")),
                      {"layout 3x3", "9 ranks but 2"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1s --layout socket=2,node=1,core=1 -o " + directory.path("x.json")),
                      {"layout: level 'socket' is part of a node, outside 'node'", "outermost first"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1s -o " + directory.path("x.json"), "COMMPASS_PROGRESS=soon"),
                      {"COMMPASS_PROGRESS"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1s --name a/b"), {"--name a/b", "-o FILE"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1s", "HOME= XDG_CONFIG_HOME="), {"output", "HOME", "-o FILE"});
  EXPECT_TRUE(directory.names().empty());
}

TEST(Calibrate, SaysAtOnceIfTheProfileCannotBeWritten) {
  const test::TemporaryDirectory directory;
  // The test's time would be over long before the budget is.
  expect_our_sentence(mpirun(2, "calibrate --budget 1000s -o " + directory.path("none/x.json")),
                      {"none/x.json", "cannot be written"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1000s -o " + directory.path()), {"it is a directory"});
  EXPECT_TRUE(directory.names().empty());
}

TEST(Calibrate, RefusesEmptyNames) {
  const test::TemporaryDirectory directory;
  EXPECT_EQ(mpirun(2, "calibrate --budget 1s -o ''").exit_code, 2);
  EXPECT_EQ(mpirun(2, "calibrate --budget 1s --name '' -o " + directory.path("p.json")).exit_code, 2);
  EXPECT_TRUE(directory.names().empty());
}

TEST(Output, OfRankZeroThatCannotBeWrittenIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const std::string arguments :
       {"measure --help", "calibrate --help",
        "measure --profile lassen --generate alltoall:ranks=2,bytes=8 --repetitions 3 --strategy standard --json"}) {
    SCOPED_TRACE(arguments);
    // The launcher takes in what ranks print, so they print elsewhere.
    const auto result =
        test::run(COMMPASS_TEST_MPIEXEC " 2 " COMMPASS_TEST_MPIEXEC_FLAGS " sh -c 'exec " COMMPASS_TEST_COMMAND " " +
                  arguments + " >/dev/full'");
    EXPECT_EQ(result.exit_code, 1) << result.err;
    const auto lines = our_lines(result);  // measure warns of the profile, too
    EXPECT_EQ(std::ranges::count_if(
                  lines, [](const auto& line) { return line.starts_with("commpass: output: it cannot be written"); }),
              1)
        << result.err;
  }
}

TEST(Measure, VerifiesAndGivesPureJson) {
  const auto result = mpirun(
      2,
      "measure --profile lassen --ppn 1 --generate random:ranks=2,bytes=1000,degree=1 --repetitions 5 --verify --json "
      "--set 'levels.network.host.*.alpha_s*2'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["context"]["set"], "levels.network.host.*.alpha_s*2");
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_NE(json["context"]["verified"].get<std::string>().find("every byte"), std::string::npos);
  EXPECT_GE(json["regret"].get<double>(), 1);
  std::set<std::string> names;
  double fastest = 1e9;
  for (const auto& row : json["ranking"]) {
    names.insert(row["strategy"].get<std::string>());
    EXPECT_GT(row["measured_s"].get<double>(), 0);
    EXPECT_GT(row["predicted_s"].get<double>(), 0);
    fastest = std::min(fastest, row["measured_s"].get<double>());
  }
  for (const auto& strategy : suggest_strategies(Layout::with_ppn(2, 1)))
    EXPECT_EQ(names.contains(to_string(strategy)), strategy.route != "mpi") << to_string(strategy);
  EXPECT_EQ(json["chosen"], json["ranking"][0]["strategy"]);
  ASSERT_EQ(json["baselines"].size(), 1U);
  const auto& mpi = json["baselines"][0];
  EXPECT_EQ(mpi["strategy"], "mpi") << "which the profile has no time of, so that it is no candidate";
  EXPECT_FALSE(mpi.contains("predicted_s"));
  fastest = std::min(fastest, mpi["measured_s"].get<double>());
  EXPECT_DOUBLE_EQ(json["regret"].get<double>(), json["ranking"][0]["measured_s"].get<double>() / fastest);
}

TEST(Measure, RunsTheStrategiesThatAreNamed) {
  const auto result = mpirun(2,
                             "measure --profile lassen --layout 1x2 --generate alltoall:ranks=2,bytes=64 --repetitions "
                             "3 --strategies 'standard;tuna,radix=2' --verify");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("tuna,radix=2"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("measured"), std::string::npos);
  EXPECT_NE(result.out.find("regret"), std::string::npos);
}

TEST(Measure, RunsAllToAllsThatAreCalledOnceBesideTheLibrarys) {
  const std::string arguments =
      "measure --one-shot --profile lassen --layout 3x1 --repetitions 1 --generate "
      "alltoallv:ranks=3,bytes=2KiB,sizes=power-law ";
  const auto result = mpirun(3, arguments + "--json --strategies 'tuna,radix=2;standard,window=1'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  ASSERT_EQ(json["ranking"].size(), 2U);
  for (const auto& row : json["ranking"]) EXPECT_GT(row["measured_s"].get<double>(), 0);
  EXPECT_GT(json["chosen_s"].get<double>(), 0);
  EXPECT_FALSE(json["chosen"].get<std::string>().empty());
  EXPECT_EQ(json["baselines"][0]["name"], "MPI_Alltoallv");
  EXPECT_EQ(mpirun(3, arguments + "--sparse variable").exit_code, 2) << "one or the other";
  const auto refused = mpirun(3, arguments + "--strategy split,cap=1KiB");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("split"), std::string::npos) << refused.err;
}

TEST(Measure, VerifiesBytesThatSeveralRanksGet) {
  for (const std::string generator : {"allgather:ranks=4,bytes=999", "stencil:dims=4,bytes=10,payload=same"}) {
    const auto result = mpirun(4,
                               "measure --profile lassen --layout 2x2 --repetitions 1 --strategies "
                               "'standard;two-step;split,cap=300;stfw,n=2;two-step,staggered' --verify --generate " +
                                   generator);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("every byte of every strategy"), std::string::npos) << result.out;
  }
}

TEST(Measure, RunsNamedStrategiesWithoutAPriceToo) {
  const std::string command =
      "measure --profile lassen --ppn 1 --generate alltoall:ranks=2,bytes=64 --repetitions 3 --verify --json "
      "--strategies ";
  const auto both = mpirun(2, command + "'mpi;standard'");
  ASSERT_EQ(both.exit_code, 0) << both.err;
  const auto ranking = Json::parse(both.out)["ranking"];
  ASSERT_EQ(ranking.size(), 2U);
  EXPECT_TRUE(ranking[0].contains("predicted_s"));
  EXPECT_EQ(ranking[1]["strategy"], "mpi");
  EXPECT_FALSE(ranking[1].contains("predicted_s")) << "lassen does not tell it";
  EXPECT_GT(ranking[1]["measured_s"].get<double>(), 0);
  const auto alone = mpirun(2, command + "mpi");
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_EQ(Json::parse(alone.out)["chosen"], "mpi");
}

TEST(Measure, TimesThePlanWhereCallsAreCounted) {
  const auto result = mpirun(2,
                             "measure --profile lassen --ppn 1 --generate alltoall:ranks=2,bytes=64 --repetitions 3 "
                             "--strategies 'standard;tuna,radix=2' --calls 4 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  std::vector<double> seconds;
  for (const auto& row : json["ranking"]) EXPECT_GT(row["plan_s"].get<double>(), 0);
  for (const auto* part : {"ranking", "baselines"})  // any of them may be the fastest
    for (const auto& row : json[part]) {
      EXPECT_GT(row["measured_plan_s"].get<double>(), 0);
      seconds.push_back(row["measured_plan_s"].get<double>() + 4 * row["measured_s"].get<double>());
    }
  EXPECT_DOUBLE_EQ(json["regret"].get<double>(), seconds.front() / *std::ranges::min_element(seconds));
}

TEST(Measure, WarnsOnceOfAProfileFromElsewhereAndNotOfItsOwn) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("here.json");
  ASSERT_EQ(mpirun(2, "calibrate --budget 0.5s --ppn 1 --name here -o " + file).exit_code, 0);
  auto unjudged = read_profile(file);
  unjudged.machine.verdict.reset();  // so short a calibration may not trust itself
  auto timeless = Json::parse(unjudged.provenance_json);
  timeless.erase("pace");  // and other tests run meanwhile, or do not
  unjudged.provenance_json = timeless.dump();
  write_profile(unjudged, file);
  const std::string rest = " --ppn 1 --repetitions 3 --strategy standard --generate alltoall:ranks=2,bytes=8";
  const auto own = mpirun(2, "measure --profile " + file + rest);
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_TRUE(our_lines(own).empty()) << own.err;

  const auto expect_warning = [&](const std::string& profile, const std::string& part) {
    const auto result = mpirun(2, "measure --profile " + profile + rest);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto lines = our_lines(result);
    ASSERT_EQ(lines.size(), 1U) << result.err;
    EXPECT_NE(lines[0].find(part), std::string::npos) << lines[0];
  };
  expect_warning("lassen", "was measured with Spectrum MPI, but this is");
  auto profile = read_profile(file);
  auto provenance = Json::parse(profile.provenance_json);
  provenance["mpi_library"] = "Other MPI 1.0";
  profile.provenance_json = provenance.dump();
  write_profile(profile, directory.path("old.json"));
  expect_warning(directory.path("old.json"), "was measured with Other MPI 1.0 on ");
  provenance = Json::parse(read_profile(file).provenance_json);
  provenance["host_hash"] = host_hash({"elsewhere"}, "5a17");
  profile.provenance_json = provenance.dump();
  write_profile(profile, directory.path("elsewhere.json"));
  expect_warning(directory.path("elsewhere.json"), "on other hosts");
}

TEST(Measure, RefusesBadInputOnce) {
  const std::string profile = "measure --profile lassen --ppn 1 --repetitions 3 ";
  expect_our_sentence(mpirun(2, profile + "--generate alltoall:ranks=3,bytes=8"),
                      {"3 ranks but mpirun started 2", "mpirun -n 3"});
  expect_our_sentence(mpirun(2, profile + "--generate alltoall:ranks=2"), {"'bytes' is missing"});
  expect_our_sentence(mpirun(2, profile + "--generate alltoall:ranks=2,bytes=8 --strategy tuna,radix=9"),
                      {"tuna,radix=9", "does not apply"});
  const auto others =
      mpirun(2, profile + "--generate alltoall:ranks=2,bytes=8 --strategy tuna,radix=9 --strategy standard");
  EXPECT_EQ(others.exit_code, 0) << others.err;
  EXPECT_NE(others.out.find("tuna,radix=9 has no price: "), std::string::npos) << others.out;
  EXPECT_NE(others.out.find("* standard"), std::string::npos) << others.out;
  expect_our_sentence(mpirun(2, "measure --profile nowhere --generate alltoall:ranks=2,bytes=8"), {"profile nowhere"});
  EXPECT_EQ(mpirun(2, "measure --profile lassen").exit_code, 2);
}

TEST(Measure, RunsNeighbourhoodsAlsoWithRanksAtOtherPlaces) {
  // Rows of the grid are nodes, and all goes along columns.
  const auto result = mpirun(2,
                             "measure --cartesian --reorder --profile lassen --layout 1x2x1 --repetitions 3 --json "
                             "--generate 'cartesian:dims=2x1,offsets=1x0;-1x0,bytes=40'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["context"]["reordered"], "no block for each node is better than what ranks have");
  const auto columns = mpirun(4,
                              "measure --cartesian --reorder --profile lassen --layout 2x2 --repetitions 3 --json "
                              "--generate 'cartesian:dims=2x2,offsets=1x0;-1x0,bytes=40'");
  EXPECT_EQ(columns.exit_code, 0) << columns.err;
  const auto text = Json::parse(columns.out)["context"]["reordered"].get<std::string>();
  EXPECT_NE(text.find("each node has a block of 2x1 of the grid, and 0 in place of 8"), std::string::npos) << text;
  EXPECT_NE(text.find("measured"), std::string::npos) << text;
  EXPECT_EQ(mpirun(2, "measure --reorder --profile lassen --ppn 1 --generate alltoall:ranks=2,bytes=8").exit_code, 2);
}

TEST(Measure, RunsHalosInEachWayBesideAMessageForEachDirection) {
  const std::string halo = "measure --profile lassen --ppn 1 --repetitions 3 --json --generate ";
  const auto result = mpirun(3, halo + "'cartesian:dims=3x1,box=1,bytes=8,periodic=0x1' --halo 5x7 --depth 2x1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  ASSERT_EQ(json["ranking"].size(), 2U);
  EXPECT_EQ(json["ranking"][0]["strategy"], "stages=1x1 (8 messages)");
  EXPECT_EQ(json["ranking"][1]["strategy"], "stages=2x1 (4 messages)");
  for (const auto& row : json["ranking"]) EXPECT_GT(row["measured_s"].get<double>(), 0);
  EXPECT_EQ(json["baselines"].size(), 1U);
  expect_our_sentence(mpirun(2, halo + "cartesian:dims=2x1,box=1,bytes=8 --halo 5x7x9"), {"--halo"});
  expect_our_sentence(mpirun(2, halo + "cartesian:dims=2x1,box=1,bytes=8 --halo 5xa"), {"--halo", "'a'"});
  expect_our_sentence(mpirun(2, halo + "alltoall:ranks=2,bytes=8 --halo 5x7"), {"--halo", "neighbourhood"});
}

TEST(MeasureSparse, RanksStrategiesAndSetsTheChoiceBesideWhatApplicationsWrite) {
  const auto result = mpirun(2,
                             "measure --profile lassen --ppn 1 --generate random:ranks=2,bytes=64,degree=1 --sparse "
                             "constant --repetitions 3 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["context"]["sizes"], "constant");
  std::set<std::string> names;
  double last = 0;
  for (const auto& row : json["ranking"]) {
    names.insert(row["strategy"].get<std::string>());
    EXPECT_GT(row["measured_s"].get<double>(), 0);
    EXPECT_GE(row["predicted_s"].get<double>(), last);
    last = row["predicted_s"].get<double>();
  }
  EXPECT_EQ(names, (std::set<std::string>{"direct+nbx", "direct+reduce", "direct+allreduce", "direct+dense"}))
      << "the profile has no price for puts";
  EXPECT_EQ(json["chosen"], json["ranking"][0]["strategy"]) << "it has learnt what the ranks send";
  ASSERT_EQ(json["baselines"].size(), 2U);
  EXPECT_EQ(json["baselines"][0]["name"], "redscatter");
  EXPECT_EQ(json["baselines"][1]["name"], "ibarrier");
  for (const auto* key : {"chosen_s", "regret", "barrier_s", "tally_s"}) EXPECT_GT(json[key].get<double>(), 0) << key;
}

TEST(MeasureSparse, TimesTheStrategiesThatAreNamed) {
  const auto result = mpirun(2,
                             "measure --profile lassen --ppn 1 --generate random:ranks=2,bytes=64,degree=1 --sparse "
                             "variable --repetitions 3 --strategy direct+nbx --strategies 'local-then-node+dense'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const auto* part : {"direct+nbx", "local-then-node+dense", "Chosen: direct+", "ibarrier"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is not in: " << result.out;
  EXPECT_EQ(result.out.find("+allreduce"), std::string::npos);
}

TEST(MeasureSparse, RefusesWhatItCannotRunInOneSentence) {
  const std::string sparse = "measure --profile lassen --ppn 1 --repetitions 3 --generate ";
  expect_our_sentence(mpirun(2, sparse + "random:ranks=2,bytes=8,degree=1 --sparse variable --strategy direct"),
                      {"sparse strategy direct", "no discovery"});
  expect_our_sentence(mpirun(2, sparse + "random:ranks=2,bytes=8,degree=1 --sparse variable --strategy direct+rma"),
                      {"direct+rma", "different sizes"});
  expect_our_sentence(mpirun(2, sparse + "uniform:ranks=2,bytes=1000 --sparse constant"),
                      {"--sparse constant", "use --sparse variable"});
  EXPECT_EQ(mpirun(2, sparse + "random:ranks=2,bytes=8,degree=1 --sparse sometimes").exit_code, 2);
}

TEST(Measure, RunsTheMethodsOfTodaysProgramsBesideNamedStrategies) {
  const auto result =
      mpirun(2, "measure --profile lassen --generate alltoall:ranks=2,bytes=8 --repetitions 3 --strategy tuna,radix=2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // "2 times faster than" or "as fast as" it: that is up to the clock.
  for (const char* part : {"* tuna,radix=2 ", "= standard ", "Chosen: tuna,radix=2, ", " sending directly (standard)"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " in " << result.out;
}

TEST(Measure, WritesItsTablesAsCsv) {
  const auto planned = mpirun(2, "measure --profile lassen --generate alltoall:ranks=2,bytes=8 --repetitions 2 --csv");
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(planned.out.find("strategy,chosen,baseline,plan_s,measured_plan_s,predicted_s,measured_s,"), 0U)
      << planned.out;
  EXPECT_NE(planned.out.find("\nstandard,"), std::string::npos) << planned.out;
  const auto called =
      mpirun(2, "measure --profile lassen --generate alltoall:ranks=2,bytes=8 --repetitions 2 --one-shot --csv");
  ASSERT_EQ(called.exit_code, 0) << called.err;
  EXPECT_EQ(called.out.find("name,kind,predicted_s,measured_s\n"), 0U) << called.out;
  for (const auto* kind : {",strategy,", ",baseline,", ",choice,"})
    EXPECT_NE(called.out.find(kind), std::string::npos) << called.out;
}

TEST(Doctor, TellsOfTheRanksThatWereStarted) {
  const auto result = mpirun(2, "doctor --json");
  // Whether this machine is quiet is not for a test to say.
  EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["may_measure"], result.exit_code == 0);
  EXPECT_EQ(json["layout"], "1 node x 2 ranks");
  std::map<std::string, Json> about;
  for (const auto& finding : json["findings"]) about[finding["subject"].get<std::string>()] = finding;
  EXPECT_EQ(about["MPI library"]["state"], "good") << about["MPI library"];
  EXPECT_NE(about["single copies"]["text"].get<std::string>().find("refused"), 0U);
  EXPECT_NE(about["profile"]["text"].get<std::string>().find("COMMPASS_PROFILE"), 0U)
      << "it says which one is taken: " << about["profile"];
}

TEST(Doctor, NeedsNoLauncher) {
  const auto result = test::run(COMMPASS_TEST_COMMAND " doctor");
  EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.err;
  EXPECT_NE(result.out.find("node 0   [0]"), std::string::npos) << result.out;
}

TEST(Doctor, SeesALauncherOfAnotherLibrary) {
  const auto result = test::run(COMMPASS_TEST_COMMAND " doctor", "PMI_SIZE=4 PMI_RANK=0");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.out.find("the launcher started 4 ranks (PMI_SIZE), and MPI sees 1"), std::string::npos)
      << result.out;
}

TEST(Doctor, FindsTheKnownErrorsOfTheMpiLibrary) {
  const auto result = test::run(COMMPASS_TEST_COMMAND " doctor --mpi-bugs --json", COMMPASS_TEST_MPI_ENVIRONMENT);
  ASSERT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.err;
  const auto json = Json::parse(result.out);
  const auto library = json["library"].get<std::string>();
  const std::map<std::string, std::string> tried{{"Open MPI v4.1.4", "Open MPI 4.1.4"},
                                                 {"MPICH Version:\t4.0.2", "MPICH 4.0.2"}};
  int wrong = 0;
  for (const auto& one : json["cases"]) {
    const auto name = one["name"].get<std::string>();
    const bool is_wrong = one["result"] != "right" && one["result"] != "not tried";
    wrong += is_wrong ? 1 : 0;
    if (is_wrong && COMMPASS_TEST_PRELOADS) {
      EXPECT_EQ(one["preloaded"], "right") << name;
    }
    if (const auto version = tried.find(library); version != tried.end() && one["result"] != "not tried") {
      const auto known = one["known_wrong_in"].get<std::string>();
      EXPECT_EQ(is_wrong, known.find(version->second) != std::string::npos) << one;
    }
  }
  EXPECT_EQ(result.exit_code, wrong > 0 ? 3 : 0);
}

TEST(Doctor, StartsRanksThatTryErrorsItself) {
  expect_our_sentence(mpirun(2, "doctor --mpi-bugs"), {"a launcher has started this already", "-- mpirun"});
  expect_our_sentence(test::run(COMMPASS_TEST_COMMAND " doctor --mpi-bugs -- /nowhere/mpirun"),
                      {"/nowhere/mpirun", "it cannot be started", "name the launcher"});
}

TEST(Doctor, SaysWhichProfileAProgramTakesHere) {
  const auto built_in =
      test::run(COMMPASS_TEST_COMMAND " doctor", "XDG_CONFIG_HOME=/nowhere COMMPASS_PROFILE_PATH=/nowhere");
  EXPECT_NE(built_in.out.find("built-in 'generic'"), std::string::npos) << built_in.out;
  const test::TemporaryDirectory directory;
  ASSERT_EQ(mpirun(2, "calibrate --budget 1s --name mine -o " + directory.path("mine.json")).exit_code, 0);
  const auto found = test::run(COMMPASS_TEST_COMMAND " doctor", "COMMPASS_PROFILE_PATH=" + directory.path(""));
  EXPECT_NE(found.out.find("mine (" + directory.path("mine.json") + "), which was measured on this machine"),
            std::string::npos)
      << found.out;
}

TEST(LauncherOfAnotherLibrary, IsRefusedByMeasuringCommands) {
  const test::TemporaryDirectory directory;
  const std::string measure = "measure --profile lassen --generate alltoall:ranks=1,bytes=8",
                    calibrate = "calibrate --budget 1s -o " + directory.path("here.json");
  for (const auto& arguments : {measure, calibrate})
    for (const auto* variables : {"PMI_SIZE=4 PMI_RANK=0", "SLURM_STEP_ID=0 SLURM_NTASKS=4 SLURM_PROCID=0"})
      expect_our_sentence(test::run(COMMPASS_TEST_COMMAND " " + arguments, variables),
                          {"it started 4 ranks", "sees 1", "use the mpirun of"});
  // The others say nothing, and fail as well.
  const auto second = test::run(COMMPASS_TEST_COMMAND " " + measure, "PMI_SIZE=4 PMI_RANK=1");
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_TRUE(our_lines(second).empty()) << second.err;
  EXPECT_TRUE(directory.names().empty());
}

TEST(LauncherOfAnotherLibrary, IsNotABatchSystemAroundOurs) {
  const auto alone = test::run(COMMPASS_TEST_COMMAND
                               " measure --profile lassen --generate alltoall:ranks=1,bytes=8 "
                               "--repetitions 1",
                               "SLURM_NTASKS=4 SLURM_PROCID=0");
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  const auto within = mpirun(2, "measure --profile lassen --generate alltoall:ranks=2,bytes=8 --repetitions 1",
                             "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0");
  EXPECT_EQ(within.exit_code, 0) << within.err;
}

TEST(LauncherOfAnotherLibrary, IsToldOnceByPrograms) {
  const auto run = test::run(COMMPASS_TEST_PROGRAM, "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto tells = [](const std::string& line) {
    return line.find("it started 4 ranks (SLURM_STEP_NUM_TASKS)") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(our_lines(run), tells), 1) << run.err;
}

}  // namespace
}  // namespace commpass
