// Profiles of schema versions 1 and 2: they are read as the machine that they always were, and written in version 3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/base/json.hpp"
#include "model/json_pointer.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/profile_schema.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

const std::string profiles = COMMPASS_TEST_PROFILES;
const std::string old_profiles = COMMPASS_TEST_OLD_PROFILES;

/// A profile of version 2 in which every key occurs.
Json full_profile() {
  return Json::parse(R"({
    "schema_version": 2, "schema_minor": 4, "name": "full", "provenance": {"by": "hand"},
    "host": {"socket": {"protocols": [{"name": "short", "max_bytes": 255, "alpha_s": 1e-7, "beta_s_per_byte": 0, "alpha_next_s": 0},
                                      {"name": "eager", "alpha_s": 2e-7, "beta_s_per_byte": 1e-10, "alpha_receive_s": 3e-7}],
                        "gamma_s": 1e-9, "rendezvous_from_bytes": 4097, "aggregate_rate_bytes_per_s": 1.5e10, "link_rate_bytes_per_s": 9e9},
             "node": {"protocols": [{"name": "all", "alpha_s": 0.1, "beta_s_per_byte": 0.3}]},
             "network": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}},
    "device": {"network": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 3}]}},
    "injection": {"rate_bytes_per_s": 2.5e10}, "ejection": {"rate_bytes_per_s": 2e10}, "core": {"rate_bytes_per_s": 1e10}, "group": {"rate_bytes_per_s": 4e10}, "bus": {"rate_bytes_per_s": 3e10},
    "copy": {"device_to_host": [{"processes": 4, "alpha_s": 2e-5, "beta_s_per_byte": 2e-11}], "host_to_device": [{"processes": 1, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}]},
    "devices": {"per_node": 4},
    "local": {"copy_rate_bytes_per_s": 8e9, "value_run_s": 2e-9},
    "operations": {"barrier_s": 1e-6, "new_send_bytes": 256, "ranks": 48},
    "verdict": {"trust": "usable", "uncertainty": 0.2, "why": "it is made up"}})");
}

Json least_profile() {
  return Json::parse(
      R"({"schema_version": 1, "name": "least", "provenance": {}, "host": {"node": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}}})");
}

Profile parse(const Json& json) { return parse_profile(json.dump(), "p.json"); }
std::string error_for(const Json& json) {
  return error_of([&] { parse(json); });
}

TEST(OldProfile, HasTheStandardLevels) {
  const auto machine = parse(full_profile()).machine;
  auto levels = standard_level::levels();
  levels[standard_level::node].up_rate_bytes_per_s = 2.5e10;
  levels[standard_level::node].down_rate_bytes_per_s = 2e10;
  levels[standard_level::node].inside_rate_bytes_per_s = 3e10;
  levels[standard_level::group].up_rate_bytes_per_s = 4e10;
  levels[standard_level::group].down_rate_bytes_per_s = 4e10;
  levels[standard_level::network].node_share_bytes_per_s = 1e10;
  EXPECT_EQ(machine.levels, levels);
  EXPECT_EQ(machine.host.by_level[standard_level::socket]->protocols.size(), 2U);
  EXPECT_EQ(machine.host.by_level[standard_level::socket]->gamma_s, 1e-9);
  EXPECT_EQ(machine.host.by_level[standard_level::node]->protocols[0].beta_s_per_byte, 0.3);
  EXPECT_FALSE(machine.host.has(standard_level::group));
  EXPECT_EQ(machine.host.by_level[standard_level::network]->protocols[0].beta_s_per_byte, 2);
  EXPECT_EQ(machine.device.by_level[standard_level::network]->protocols[0].beta_s_per_byte, 3);
  EXPECT_EQ(machine.device_to_host, (std::vector<DeviceCopy>{{4, 2e-5, 2e-11}}));
  EXPECT_EQ(machine.devices_per_node, 4);
  EXPECT_EQ(machine.value_run_s, 2e-9);
  EXPECT_EQ(machine.operations.new_send_bytes, 256);
  EXPECT_EQ(machine.verdict->trust, Trust::usable);
  EXPECT_EQ(parse(least_profile()).machine.levels, standard_level::levels());
}

TEST(OldProfile, IsTheSameMachineInVersionThree) {
  std::vector<std::string> texts{full_profile().dump(), least_profile().dump()};
  for (const auto& entry : std::filesystem::directory_iterator(old_profiles))
    texts.push_back(test::contents_of(entry.path().string()));
  EXPECT_EQ(texts.size(), 2U + 2U);
  for (const auto& text : texts) {
    const auto old = parse_profile(text, "old");
    const auto converted = to_json(old);
    EXPECT_EQ(parse_profile(converted, "converted").machine, old.machine) << text;
    EXPECT_EQ(parse_profile(converted, "converted").provenance_json, old.provenance_json);
    EXPECT_TRUE(test::schema_accepts(profiles + "/schema.json", converted)) << converted;
  }
}

// Those that were not measured anew since.
TEST(OldProfile, ThatCameWithCommpassIsTheMachineThatComesWithItNow) {
  for (const auto& entry : std::filesystem::directory_iterator(old_profiles)) {
    auto now = read_profile(profiles + "/" + entry.path().filename().string()).machine;
    now.mpi_library.clear();  // earlier ones did not tell it
    EXPECT_EQ(read_profile(entry.path().string()).machine, now) << entry.path();
  }
}

TEST(OldProfile, ThatIsBrokenIsRefusedByItsOwnKeys) {
  struct Broken {
    std::string path;
    Json value;
    std::vector<std::string> parts;
  };
  const std::string first = "/host/socket/protocols/0";
  const std::vector<Broken> cases{
      {"/host", Json::object(), {"key host has no locality", "socket, node or network"}},
      {"/host", 3, {"key host is no object"}},
      {"/host/socket", 3, {"key host.socket is no object"}},
      {"/host/sockte", 3, {"key host.sockte is unknown", "did you mean socket"}},
      {"/host/group", 3, {"key host.group is unknown"}},
      {"/host/socket/protocols", Json::array(), {"key host.socket.protocols is empty"}},
      {first + "/alpha_s", -1, {"key host.socket.protocols[0].alpha_s is -1", "0 or more"}},
      {"/host/socket/gamma_s", 1e300, {"key host.socket.gamma_s is 1e+300", "at most 1000000"}},
      {"/device/network/protocols/0/alpha_s", "x", {"key device.network.protocols[0].alpha_s is \"x\""}},
      {"/injection", 5, {"key injection is no object"}},
      {"/injection/rate_bytes_per_s", 0, {"key injection.rate_bytes_per_s is 0", "leave it out"}},
      {"/injection/up_rate_bytes_per_s", 1, {"key injection.up_rate_bytes_per_s is unknown"}},
      {"/group/rate_bytes_per_s", "fast", {"key group.rate_bytes_per_s is \"fast\""}},
      {"/levels", Json::array(), {"key levels is unknown"}},
      {"/local/surprise", 1, {"key local.surprise is unknown"}}};
  for (const auto& [path, value, parts] : cases) {
    auto json = full_profile();
    test::put(json, path, value);
    expect_sentence(error_for(json), parts);
  }
}

TEST(OldProfile, OfVersionOneHasNothingThatVersionTwoAdded) {
  const std::pair<const char*, Json> added[] = {{"/schema_minor", 1},
                                                {"/verdict", full_profile()["verdict"]},
                                                {"/devices", {{"per_node", 4}}},
                                                {"/local/value_run_s", 3e-9},
                                                {"/operations/new_send_bytes", 256}};
  for (const auto& [path, value] : added) {
    auto json = least_profile();
    test::put(json, path, value);
    EXPECT_NE(error_for(json).find("is unknown"), std::string::npos) << path;
    json["schema_version"] = 2;
    EXPECT_EQ(error_for(json), "") << path;
  }
}

TEST(OldProfile, HasAProvenanceInTheWordsOfToday) {
  auto json = least_profile();
  json["provenance"] = Json::parse(
      R"({"fits": [{"locality": "node", "protocol": "eager"}, 3], "not_measured": ["injection: by hand"],
          "sharing": [{"parameter": "injection", "locality": "network"}, {"parameter": "ejection"}, {"parameter": 1},
                      {"parameter": "host.socket.aggregate_rate_bytes_per_s", "locality": "socket", "level": "own"}],
          "device": {"fits": [{"locality": "network"}]}})");
  EXPECT_EQ(Json::parse(parse(json).provenance_json),
            Json::parse(
                R"({"fits": [{"level": "node", "protocol": "eager"}, 3], "not_measured": ["injection: by hand"],
              "sharing": [{"parameter": "levels.node.up_rate_bytes_per_s", "level": "network"},
                          {"parameter": "levels.node.down_rate_bytes_per_s"}, {"parameter": 1},
                          {"parameter": "levels.socket.host.aggregate_rate_bytes_per_s", "locality": "socket", "level": "own"}],
              "device": {"fits": [{"level": "network"}]}})"));
}

TEST(OldProfile, OfANewerMinorVersionKeepsKnownKeysAndTellsUnknownOnes) {
  auto json = full_profile();
  json["schema_minor"] = 5;
  json["weather"] = "fine";
  json["host"]["node"]["protocols"][0]["warmth_s"] = 3;
  const auto profile = parse(json);
  EXPECT_EQ(profile.machine, parse(full_profile()).machine);
  EXPECT_THAT(profile.unknown_keys, testing::UnorderedElementsAre("weather", "host.node.protocols[0].warmth_s"));
  json["schema_minor"] = 4;
  expect_sentence(error_for(json), {"is unknown"});
}

}  // namespace
}  // namespace commpass
