// commpass calibrate and measure, as they are started under mpirun.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "command/run.hpp"
#include "model/profile.hpp"
#include "model/text.hpp"

namespace commpass {
namespace {

using test::Result;
using Json = nlohmann::json;

Result mpirun(int ranks, const std::string& arguments, const std::string& variables = {}) {
  return test::run(COMMPASS_TEST_MPIEXEC " " + std::to_string(ranks) + " " COMMPASS_TEST_MPIEXEC_FLAGS " " COMMPASS_TEST_COMMAND " " + arguments, variables);
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
  for (const auto& part : parts) EXPECT_NE(lines[0].find(part), std::string::npos) << "'" << part << "' is not in: " << lines[0];
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
  EXPECT_FALSE(profile.machine.host.has(Locality::network)) << "both ranks are on this host";
  EXPECT_TRUE(profile.machine.host.has(Locality::socket) || profile.machine.host.has(Locality::node));
  const auto provenance = Json::parse(profile.provenance_json);
  for (const auto* key : {"date", "mpi_library", "layout", "samples", "fits", "not_measured"}) EXPECT_TRUE(provenance.contains(key)) << key;
  EXPECT_EQ(test::run(COMMPASS_TEST_COMMAND " profile validate " + file).exit_code, 0);
}

TEST(Calibrate, MeasuresTheNetworkOfTwoNodes) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("two.json");
  const auto result = mpirun(2, "calibrate --budget 2s --ppn 1 --json -o " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto machine = read_profile(file).machine;
  ASSERT_TRUE(machine.host.has(Locality::network));
  for (const auto& protocol : machine.host.find(Locality::network)->protocols) {
    EXPECT_GT(protocol.alpha_s + protocol.beta_s_per_byte, 0);
    EXPECT_LT(protocol.alpha_s, 1);
  }
  EXPECT_GT(machine.copy_rate_bytes_per_s, 0);
  EXPECT_TRUE(machine.operations.barrier_s.has_value());
  EXPECT_EQ(parse_profile(result.out, "stdout").machine, machine) << "--json gives the same profile";
  EXPECT_EQ(test::run(COMMPASS_TEST_COMMAND " predict --ppn 2 --generate alltoall:ranks=4,bytes=8 --profile " + file).exit_code, 0) << "it can be used";
}

TEST(Calibrate, NeedsTwoRanks) {
  const test::TemporaryDirectory directory;
  expect_our_sentence(mpirun(1, "calibrate --budget 1s -o " + directory.path("one.json")), {"calibrate", "one rank", "mpirun -n 2"});
  EXPECT_TRUE(directory.names().empty());
}

TEST(Calibrate, RefusesBadInputOnceAndLeavesNothing) {
  const test::TemporaryDirectory directory;
  expect_our_sentence(mpirun(2, "calibrate --budget soon -o " + directory.path("x.json")), {"--budget soon", "60s"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1s --layout 3x3 -o " + directory.path("x.json")), {"layout 3x3", "9 ranks but 2"});
  expect_our_sentence(mpirun(2, "calibrate --budget 1s -o " + directory.path("x.json"), "COMMPASS_SPEED=1"), {"COMMPASS_SPEED"});
  EXPECT_EQ(mpirun(2, "calibrate --budget 1s").exit_code, 2) << "-o is missing";
  EXPECT_TRUE(directory.names().empty());
}

TEST(Calibrate, SaysSoIfTheProfileCannotBeWritten) {
  const test::TemporaryDirectory directory;
  expect_our_sentence(mpirun(2, "calibrate --budget 0.2s -o " + directory.path("none/x.json")), {"none/x.json", "cannot be written"});
  EXPECT_TRUE(directory.names().empty());
}

TEST(Measure, VerifiesAndGivesPureJson) {
  const auto result = mpirun(2, "measure --profile lassen --ppn 1 --generate random:ranks=2,bytes=1000,degree=1 --repetitions 5 --verify --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_NE(json["context"]["verified"].get<std::string>().find("every byte"), std::string::npos);
  EXPECT_GE(json["regret"].get<double>(), 1);
  std::set<std::string> names;
  double fastest = 1e9;
  for (const auto& row : json["ranking"]) {
    names.insert(row["strategy"]);
    EXPECT_GT(row["measured_s"].get<double>(), 0);
    EXPECT_GT(row["predicted_s"].get<double>(), 0);
    fastest = std::min(fastest, row["measured_s"].get<double>());
  }
  EXPECT_EQ(names.size(), suggest_strategies(Layout::with_ppn(2, 1)).size());
  EXPECT_EQ(json["chosen"], json["ranking"][0]["strategy"]);
  EXPECT_DOUBLE_EQ(json["regret"].get<double>(), json["ranking"][0]["measured_s"].get<double>() / fastest);
}

TEST(Measure, RunsTheStrategiesThatAreNamed) {
  const auto result = mpirun(2, "measure --profile lassen --layout 1x2 --generate alltoall:ranks=2,bytes=64 --repetitions 3 --strategies 'standard;tuna,radix=2' --verify");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("tuna,radix=2"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("measured"), std::string::npos);
  EXPECT_NE(result.out.find("regret"), std::string::npos);
}

TEST(Measure, WarnsOnceOfAProfileFromElsewhereAndNotOfItsOwn) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("here.json");
  ASSERT_EQ(mpirun(2, "calibrate --budget 0.5s --ppn 1 --name here -o " + file).exit_code, 0);
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
  expect_warning("lassen", "does not say with which MPI library");
  auto profile = read_profile(file);
  auto provenance = Json::parse(profile.provenance_json);
  provenance["mpi_library"] = "Other MPI 1.0";
  profile.provenance_json = provenance.dump();
  write_profile(profile, directory.path("old.json"));
  expect_warning(directory.path("old.json"), "was measured with Other MPI 1.0 on ");
}

TEST(Measure, RefusesBadInputOnce) {
  const std::string profile = "measure --profile lassen --ppn 1 --repetitions 3 ";
  expect_our_sentence(mpirun(2, profile + "--generate alltoall:ranks=3,bytes=8"), {"3 ranks but mpirun started 2", "mpirun -n 3"});
  expect_our_sentence(mpirun(2, profile + "--generate alltoall:ranks=2"), {"'bytes' is missing"});
  expect_our_sentence(mpirun(2, profile + "--generate alltoall:ranks=2,bytes=8 --strategy tuna,radix=9"), {"tuna,radix=9", "does not apply"});
  expect_our_sentence(mpirun(2, "measure --profile nowhere --generate alltoall:ranks=2,bytes=8"), {"profile nowhere"});
  EXPECT_EQ(mpirun(2, "measure --profile lassen").exit_code, 2);
}

TEST(MeasureSparse, RanksStrategiesAndSetsTheChoiceBesideWhatApplicationsWrite) {
  const auto result = mpirun(2, "measure --profile lassen --ppn 1 --generate random:ranks=2,bytes=64,degree=1 --sparse constant --repetitions 3 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["context"]["sizes"], "constant");
  std::set<std::string> names;
  double last = 0;
  for (const auto& row : json["ranking"]) {
    names.insert(row["strategy"]);
    EXPECT_GT(row["measured_s"].get<double>(), 0);
    EXPECT_GE(row["predicted_s"].get<double>(), last);
    last = row["predicted_s"];
  }
  EXPECT_EQ(names, (std::set<std::string>{"direct+nbx", "direct+reduce", "direct+allreduce", "direct+rma", "direct+dense"}));
  EXPECT_EQ(json["chosen"], json["ranking"][0]["strategy"]) << "it has learnt what the ranks send";
  ASSERT_EQ(json["baselines"].size(), 2U);
  EXPECT_EQ(json["baselines"][0]["name"], "redscatter");
  EXPECT_EQ(json["baselines"][1]["name"], "ibarrier");
  for (const auto* key : {"chosen_s", "regret", "barrier_s", "tally_s"}) EXPECT_GT(json[key].get<double>(), 0) << key;
}

TEST(MeasureSparse, TimesTheStrategiesThatAreNamed) {
  const auto result = mpirun(2, "measure --profile lassen --ppn 1 --generate random:ranks=2,bytes=64,degree=1 --sparse variable --repetitions 3 --strategy direct+nbx --strategies 'local-then-node+dense'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const auto* part : {"direct+nbx", "local-then-node+dense", "Chosen: direct+", "ibarrier"}) EXPECT_NE(result.out.find(part), std::string::npos) << part << " is not in: " << result.out;
  EXPECT_EQ(result.out.find("+allreduce"), std::string::npos);
}

TEST(MeasureSparse, RefusesWhatItCannotRunInOneSentence) {
  const std::string sparse = "measure --profile lassen --ppn 1 --repetitions 3 --generate ";
  expect_our_sentence(mpirun(2, sparse + "random:ranks=2,bytes=8,degree=1 --sparse variable --strategy direct"), {"sparse strategy direct", "no discovery"});
  expect_our_sentence(mpirun(2, sparse + "random:ranks=2,bytes=8,degree=1 --sparse variable --strategy direct+rma"), {"direct+rma", "different sizes"});
  expect_our_sentence(mpirun(2, sparse + "uniform:ranks=2,bytes=1000 --sparse constant"), {"--sparse constant", "use --sparse variable"});
  EXPECT_EQ(mpirun(2, sparse + "random:ranks=2,bytes=8,degree=1 --sparse sometimes").exit_code, 2);
}

}  // namespace
}  // namespace commpass
