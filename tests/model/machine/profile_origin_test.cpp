#include "model/machine/profile_origin.hpp"

#include <gtest/gtest.h>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::expect_sentence;

Profile profile_of(const std::string& provenance) {
  Profile profile;
  profile.machine.name = "mine";
  profile.provenance_json = provenance;
  return profile;
}

std::string warning_of(const Profile& profile, const std::string& library, const std::vector<std::string>& hosts = {}) {
  return provenance_warning(profile, {.mpi_library = library, .hosts = hosts});
}

TEST(Provenance, OfTheLibraryThatRunsIsSilent) {
  EXPECT_EQ(warning_of(profile_of(R"({"mpi_library": "Open MPI v4.1.4"})"), "Open MPI v4.1.4"), "");
}

TEST(Provenance, OfAProfileThatDoesNotTrustItselfSaysWhyAndWhatToDo) {
  auto profile = profile_of(R"({"mpi_library": "Open MPI v4.1.4"})");
  profile.machine.verdict = Verdict{Trust::none, 0.8, "exchanges take twice as long", "calibrate on a quiet machine"};
  expect_sentence(warning_of(profile, "Open MPI v4.1.4"),
                  {"profile mine is not to be trusted", "twice as long; calibrate on a quiet machine"});
  profile.machine.verdict->trust = Trust::usable;
  EXPECT_EQ(warning_of(profile, "Open MPI v4.1.4"), "");
}

TEST(Provenance, OfAnotherLibraryNamesBothAndTheDate) {
  expect_sentence(
      warning_of(profile_of(R"({"mpi_library": "Open MPI v4.1.4", "date": "2026-01-02T03:04:05Z"})"), "MPICH 4.0"),
      {"profile mine", "Open MPI v4.1.4 on 2026-01-02T03:04:05Z", "this is MPICH 4.0", "calibrate"});
  expect_sentence(warning_of(profile_of(R"({"mpi_library": "MPICH 4.0"})"), "Open MPI v5.0.0"),
                  {"measured with MPICH 4.0, but"});
}

TEST(Provenance, OfAnotherVersionSaysWhich) {
  expect_sentence(warning_of(profile_of(R"({"mpi_library": "Open MPI v4.1.3", "date": "2026-01-02T03:04:05Z"})"),
                             "Open MPI v4.1.4"),
                  {"profile mine was measured with Open MPI 4.1.3 on 2026-01-02T03:04:05Z, but this is version 4.1.4",
                   "calibrate"});
  expect_sentence(warning_of(profile_of(R"({"mpi_library": "MPICH Version:\t4.0.2"})"), "MPICH Version:\t4.1"),
                  {"with MPICH 4.0.2, but this is version 4.1;"});
  expect_sentence(warning_of(profile_of(R"({"mpi_library": "Open MPI v0.9"})"), "Open MPI v9.0"),
                  {"with Open MPI 0.9, but this is version 9.0;"});
  expect_sentence(warning_of(profile_of(R"({"mpi_library": "MPI of v 1.0"})"), "MPI of v 2.0"),
                  {"with MPI of v 1.0, but this is version 2.0;"});
  expect_sentence(warning_of(profile_of(R"({"mpi_library": "MPI of mine 3"})"), "MPI of mine"),
                  {"with MPI of mine 3, but this is MPI of mine;"});
  expect_sentence(warning_of(profile_of(R"({"mpi_library": "MPI of mine"})"), "MPI of yours"),
                  {"measured with MPI of mine, but this is MPI of yours"});
}

TEST(Provenance, OfOtherHostsSaysSo) {
  const std::string library = "Open MPI v4.1.4";
  const auto profile =
      profile_of(R"({"mpi_library": "Open MPI v4.1.4", "date": "2026-01-02T03:04:05Z", "host_hash": ")" +
                 host_hash({"n1", "n2"}, "5a17") + "\"}");
  EXPECT_EQ(warning_of(profile, library, {"n1", "n2"}), "");
  EXPECT_EQ(warning_of(profile, library, {"n2", "n1", "n1", "n2"}), "") << "a set";
  EXPECT_EQ(warning_of(profile, library), "") << "it is not known where this is";
  for (const std::vector<std::string>& others : {std::vector<std::string>{"n1"}, {"n1", "n2", "n3"}, {"n1n2"}})
    expect_sentence(warning_of(profile, library, others),
                    {"profile mine", "on 2026-01-02T03:04:05Z on other hosts", "calibrate"});
  expect_sentence(warning_of(profile, "Open MPI v5.0.0", {"n3"}), {"this is version 5.0.0"});
  EXPECT_EQ(warning_of(profile_of(R"({"mpi_library": "Open MPI v4.1.4", "host_hash": "later:kind"})"), library, {"n1"}),
            "");
}

TEST(Provenance, OfOtherSettingsPartitionsAndMoreRanksSaysAllInOneSentence) {
  const auto profile = profile_of(
      R"({"mpi_library": "Open MPI v4.1.4", "date": "2026-01-02T03:04:05Z", "transport": "btl tcp,self", "partition": "debug",
          "ranks_per_node": 2})");
  Surroundings here{"Open MPI v4.1.4", "btl tcp,self", "debug", 2, {}};
  EXPECT_EQ(use_warning(profile, here), "");
  here.ranks_per_node = 1;
  EXPECT_EQ(use_warning(profile, here), "") << "that is part of the measurement";
  here.ranks_per_node = 4;
  EXPECT_EQ(
      use_warning(profile, here),
      "profile mine was measured with at most 2 ranks a node on 2026-01-02T03:04:05Z, but here are 4; predictions "
      "may be off, so calibrate here ('mpirun -n N commpass calibrate').");
  here.partition = "large";
  here.transport = "";
  here.mpi_library = "Open MPI v5.0.0";
  expect_sentence(
      use_warning(profile, here),
      {"measured with Open MPI 4.1.4 on 2026-01-02T03:04:05Z, but this is version 5.0.0, and with its "
       "transport as 'btl tcp,self', but here it is 'its own choice', and in partition 'debug', but this is "
       "'large', and with at most 2 ranks a node, but here are 4; predictions"});
  EXPECT_EQ(use_warning(profile, {}), "") << "nothing is known of the running program";
  EXPECT_EQ(use_warning(profile_of("{}"), here), "") << "nothing is known of how it was measured";
}

TEST(Provenance, OfANewerCommpassNamesIgnoredKeys) {
  auto profile = profile_of(R"({"mpi_library": "Open MPI v4.1.4"})");
  profile.unknown_keys = {"host.node.warmth", "weather"};
  expect_sentence(use_warning(profile, {}), {"profile mine was written by a newer", "(host.node.warmth, weather)"});
  EXPECT_NE(warning_of(profile, "MPICH 4.0").find("MPICH 4.0; predictions"), std::string::npos);
  EXPECT_NE(warning_of(profile, "MPICH 4.0").find("And profile mine was written"), std::string::npos);
}

TEST(Provenance, IsTheEndOfAnExplanation) {
  auto profile = profile_of(
      R"({"mpi_library": "MPI 1", "date": "2026-01-02T00:00:00Z", "ranks_per_node": 2, "partition": "debug"})");
  profile.machine.verdict = Verdict{Trust::usable, 0.8, "", ""};
  constexpr std::time_t ten_days_later = 1768176000;  // 2026-01-12
  EXPECT_EQ(describe_origin(profile, ten_days_later),
            "Profile mine: measured 10 days ago with MPI 1 and at most 2 ranks a node, in partition 'debug'; verdict: "
            "usable.\n");
  EXPECT_EQ(describe_origin(profile_of("{}"), ten_days_later), "");
  const auto of_one = profile_of(R"({"mpi_library": "MPI 1", "ranks_per_node": 1})");
  EXPECT_EQ(describe_origin(of_one, ten_days_later), "Profile mine: measured with MPI 1 and at most 1 rank a node.\n");
  Surroundings two_a_node;
  two_a_node.ranks_per_node = 2;
  expect_sentence(use_warning(of_one, two_a_node), {"measured with at most 1 rank a node, but here are 2"});
}

TEST(Provenance, TellsTheMostNodesThatWereMeasured) {
  const auto nodes = [](const std::string& provenance) {
    const auto text = R"({"schema_version": 2, "name": "mine", "provenance": )" + provenance +
                      R"(, "host": {"network": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}}})";
    const auto profile = parse_profile(text, "mine");
    EXPECT_EQ(parse_profile(to_json(profile), "again").machine, profile.machine);
    return profile.machine.nodes_measured;
  };
  EXPECT_EQ(nodes(R"({"nodes": 2})"), 2);
  EXPECT_EQ(nodes(R"({"nodes": 2, "exchanges": {"nodes": [2, 8, 4]}})"), 8);
  EXPECT_EQ(nodes(R"({"nodes": "two", "exchanges": "none"})"), 0);
  EXPECT_EQ(nodes("{}"), 0);
}

TEST(Provenance, IgnoresARankCountBeyondInt) {
  const auto profile = profile_of(R"({"mpi_library": "MPI 1", "ranks_per_node": 4294967298})");
  EXPECT_EQ(describe_origin(profile, 0), "Profile mine: measured with MPI 1.\n");
}

TEST(HostHash, TellsNoNamesAndDependsOnTheSalt) {
  const auto hash = host_hash({"secret-host"}, "1");
  EXPECT_EQ(hash.find("secret"), std::string::npos);
  EXPECT_TRUE(hash.starts_with("sha256:1:"));
  EXPECT_NE(hash.substr(hash.rfind(':')), host_hash({"secret-host"}, "2").substr(hash.rfind(':')));
}

TEST(Provenance, WithoutALibraryMayBeOfAnotherMachine) {
  for (const auto* provenance : {"{}", R"({"mpi_library": 4})"})
    expect_sentence(warning_of(profile_of(provenance), "MPICH 4.0"), {"profile mine", "does not say", "calibrate"});
}

}  // namespace
}  // namespace commpass
