// Machine profiles: the strict reader, the writer, and the schema beside them.
#include "model/base/json.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/parameter_documents.hpp"
#include "model/machine/profile_lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/json_pointer.hpp"
#include "model/machine/profile_schema.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

const std::string profiles = COMMPASS_TEST_PROFILES;

/// A profile in which every key occurs.
const Json& full_profile() {
  static const auto profile = Json::parse(R"({
    "schema_version": 3, "schema_minor": 4, "name": "full", "provenance": {"by": "hand", "deep": {"list": [1, 2.5, null, "x"]}},
    "levels": [
      {"name": "socket",
       "host": {"protocols": [{"name": "short", "max_bytes": 0, "alpha_s": 1e-7, "beta_s_per_byte": 0, "alpha_next_s": 0, "beta_next_s_per_byte": 5e-11},
                              {"name": "eager", "max_bytes": 9007199254740993, "alpha_s": 2e-7, "beta_s_per_byte": 1e-10, "alpha_receive_s": 3e-7},
                              {"name": "rendezvous", "alpha_s": 3e-7, "beta_s_per_byte": 1e-11, "beta_receive_s_per_byte": 2e-11, "up_rate_bytes_per_s": 9e9, "down_rate_bytes_per_s": 8e9}],
                "gamma_s": 1e-9, "rendezvous_from_bytes": 4097, "aggregate_rate_bytes_per_s": 1.5e10, "link_rate_bytes_per_s": 9e9}},
      {"name": "node", "host": {"protocols": [{"name": "all", "alpha_s": 0.1, "beta_s_per_byte": 0.3}]},
       "up_rate_bytes_per_s": 2.5e10, "down_rate_bytes_per_s": 2e10, "inside_rate_bytes_per_s": 3e10},
      {"name": "group", "up_rate_bytes_per_s": 4e10, "down_rate_bytes_per_s": 5e10, "up_messages_per_s": 2e8, "down_messages_per_s": 3e8, "messages_in_flight": 64},
      {"name": "network", "host": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]},
       "device": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}, "node_share_bytes_per_s": 1e10}],
    "copy": {"device_to_host": [{"processes": 1, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}, {"processes": 4, "alpha_s": 2e-5, "beta_s_per_byte": 2e-11}],
             "host_to_device": [{"processes": 1, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}]},
    "devices": {"per_node": 4, "copy_rate_bytes_per_s": 5e11, "copy_call_s": 0},
    "local": {"copy_rate_bytes_per_s": 8e9, "copy_block_s": 2e-8, "value_run_s": 2e-9, "reduction_rate_bytes_per_s": 6e9, "datatype_rate_bytes_per_s": 2e9, "datatype_block_s": 3e-8},
    "operations": {"barrier_s": 1e-6, "allreduce_s": 2e-6, "probe_s": 3e-6, "put_s": 4e-6, "fence_s": 5e-6, "window_s": 6e-6,
                   "neighbor_alltoall_s": 7e-6, "neighbor_alltoall_message_s": -8e-8, "alltoallv_s": -9e-6, "alltoallv_message_s": 1e-8, "alltoallv_rank_s": 9e-9, "batch_s": 1e-8, "batch_once_s": 2e-8, "discovery_s": 3e-8, "skew_s": 4e-8, "new_send_bytes": 256, "ranks": 48},
    "limits": {"messages_off_node": 32, "messages": 128, "unexpected_messages": 2000, "partners": 500, "buffer_bytes": 1073741824},
    "verdict": {"trust": "do not trust", "uncertainty": 0.4, "why": "it is made up", "remedy": "measure"}})");
  return profile;
}

/// The least that a profile needs, and what it is written with.
Json least_profile() {
  return Json::parse(
      R"({"schema_version": 3, "schema_minor": 4, "name": "least", "provenance": {}, "levels": [{"name": "node", "host": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}}, {"name": "network"}]})");
}

Profile parse(const Json& json) { return parse_profile(json.dump(), "p.json"); }
std::string error_for(const Json& json) {
  return error_of([&] { parse(json); });
}

std::vector<std::string> shipped_profiles() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(profiles))
    if (entry.path().extension() == ".json" && entry.path().stem() != "schema") paths.push_back(entry.path().string());
  return paths;
}

bool schema_accepts(const Json& json) { return test::schema_accepts(profiles + "/schema.json", json.dump()); }

TEST(Profile, HasEveryParameter) {
  const auto machine = parse(full_profile()).machine;
  EXPECT_EQ(machine.name, "full");
  const auto& socket = *machine.host.find(standard_level::socket);
  ASSERT_EQ(socket.protocols.size(), 3U);
  EXPECT_EQ(socket.protocols[0].name, "short");
  EXPECT_EQ(socket.protocols[0].max_bytes, 0);
  EXPECT_EQ(socket.protocols[0].alpha_next_s, 0);
  EXPECT_EQ(socket.protocols[1].max_bytes, 9007199254740993) << "not by way of a double";
  EXPECT_EQ(socket.protocols[1].alpha_next_s, 2e-7) << "alpha_s where it is absent";
  EXPECT_EQ(socket.protocols[0].beta_next_s_per_byte, 5e-11);
  EXPECT_FALSE(socket.protocols[1].beta_next_s_per_byte);
  EXPECT_EQ(socket.protocols[1].alpha_receive_s, 3e-7);
  EXPECT_EQ(socket.protocols[2].beta_receive_s_per_byte, 2e-11);
  EXPECT_EQ(socket.protocols[2].up_rate_bytes_per_s, 9e9);
  EXPECT_EQ(socket.protocols[2].down_rate_bytes_per_s, 8e9);
  EXPECT_EQ(socket.protocols[2].max_bytes, std::numeric_limits<Bytes>::max());
  EXPECT_EQ(socket.gamma_s, 1e-9);
  EXPECT_EQ(socket.rendezvous_from_bytes, 4097);
  EXPECT_FALSE(machine.host.find(standard_level::node)->rendezvous_from_bytes);
  EXPECT_EQ(socket.aggregate_rate_bytes_per_s, 1.5e10);
  EXPECT_EQ(socket.link_rate_bytes_per_s, 9e9);
  EXPECT_FALSE(machine.host.find(standard_level::node)->gamma_s);
  EXPECT_EQ(machine.outermost(), standard_level::network);
  const auto& node = machine.levels[standard_level::node];
  const auto& group = machine.levels[standard_level::group];
  EXPECT_EQ(node, (MachineLevel{"node", 2.5e10, 2e10, 3e10}));
  EXPECT_EQ(group.up_rate_bytes_per_s, 4e10);
  EXPECT_EQ(group.down_rate_bytes_per_s, 5e10);
  EXPECT_EQ(group.up_messages_per_s, 2e8);
  EXPECT_EQ(group.down_messages_per_s, 3e8);
  EXPECT_EQ(group.messages_in_flight, 64);
  EXPECT_EQ(machine.levels[standard_level::network].node_share_bytes_per_s, 1e10);
  EXPECT_EQ(machine.device_to_host, (std::vector<DeviceCopy>{{1, 1e-5, 1e-11}, {4, 2e-5, 2e-11}}));
  EXPECT_EQ(machine.host_to_device.size(), 1U);
  EXPECT_EQ(machine.copy_rate_bytes_per_s, 8e9);
  EXPECT_EQ(machine.copy_block_s, 2e-8);
  EXPECT_EQ(machine.value_run_s, 2e-9);
  EXPECT_EQ(machine.reduction_rate_bytes_per_s, 6e9);
  EXPECT_EQ(machine.datatype_rate_bytes_per_s, 2e9);
  EXPECT_EQ(machine.datatype_block_s, 3e-8);
  EXPECT_EQ(machine.operations.barrier_s, 1e-6);
  EXPECT_EQ(machine.operations.window_s, 6e-6);
  EXPECT_EQ(machine.operations.neighbor_alltoall_s, 7e-6);
  EXPECT_EQ(machine.operations.neighbor_alltoall_message_s, -8e-8) << "a difference may be negative";
  EXPECT_EQ(machine.operations.alltoallv_s, -9e-6);
  EXPECT_EQ(machine.operations.alltoallv_message_s, 1e-8);
  EXPECT_EQ(machine.operations.alltoallv_rank_s, 9e-9);
  EXPECT_EQ(machine.operations.batch_s, 1e-8);
  EXPECT_EQ(machine.operations.batch_once_s, 2e-8);
  EXPECT_EQ(machine.operations.discovery_s, 3e-8);
  EXPECT_EQ(machine.operations.skew_s, 4e-8);
  EXPECT_EQ(machine.operations.new_send_bytes, 256);
  EXPECT_EQ(machine.operations.ranks, 48);
  EXPECT_EQ(machine.limits, (Limits{.messages_off_node = 32,
                                    .messages = 128,
                                    .unexpected_messages = 2000,
                                    .partners = 500,
                                    .buffer_bytes = 1073741824}));
  EXPECT_EQ(machine.devices_per_node, 4);
  EXPECT_EQ(machine.device_copy_rate_bytes_per_s, 5e11);
  EXPECT_EQ(machine.device_copy_call_s, 0);
  EXPECT_EQ(machine.verdict, (Verdict{Trust::none, 0.4, "it is made up", "measure"}));
}

TEST(Profile, OfThisTestHasAllParametersOfTheTable) {
  auto machine = parse(full_profile()).machine;
  for (const auto& row : machine_parameters())
    EXPECT_TRUE(std::ranges::any_of(named_parameters(machine), [&](const auto& each) {
      return each.parameter == &row && !is_absent(each.get());
    })) << pattern_of(row);
}

TEST(Profile, NamesTheMpiLibraryThatItsProvenanceTells) {
  auto json = least_profile();
  EXPECT_EQ(parse(json).machine.mpi_library, "");
  json["provenance"]["mpi_library"] = "Open MPI v4.1.4";
  EXPECT_EQ(parse(json).machine.mpi_library, "Open MPI v4.1.4");
  json["provenance"]["mpi_library"] = 4;
  EXPECT_EQ(parse(json).machine.mpi_library, "") << "a provenance may say anything";
}

TEST(Operations, OfOtherNumbersOfRanksTakeAsManyRoundsAsTheLogarithmSays) {
  OperationCosts operations;
  EXPECT_EQ(collective_seconds(operations, 7, 1000), 7) << "the number of ranks of the measurement is unknown";
  operations.ranks = 16;
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 16), 4);
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 17), 5);
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 1024), 10);
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 2), 1);
  EXPECT_EQ(collective_seconds(operations, 4, 1), 0) << "no rank to wait for";
  operations.ranks = 2;
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 3), 8);
}

TEST(Profile, WithTheLeastHasOneChannelAndNothingElse) {
  auto machine = parse(least_profile()).machine;
  EXPECT_EQ(machine.levels, (std::vector<MachineLevel>{{"node"}, {"network"}}));
  EXPECT_EQ(machine.host.find(1), nullptr) << "never an inner one";
  EXPECT_TRUE(std::isinf(machine.copy_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(machine.levels[0].inside_rate_bytes_per_s));
  EXPECT_TRUE(machine.device.empty());
  for (const auto& each : named_parameters(machine))
    EXPECT_EQ(is_absent(each.get()), !each.parameter->is_required()) << each.name;
}

/// Every cost in it is 0.
Json free_of_cost(Json json) {
  for (auto& [key, value] : json.items()) {
    const bool is_cost = key.ends_with("_s") && !key.ends_with("_per_s");
    if (value.is_object() && key != "provenance") value = free_of_cost(value);
    else if (value.is_array())
      for (auto& each : value) each = free_of_cost(each);
    else if (is_cost) value = 0.0;
  }
  return json;
}

TEST(Profile, KeepsMeasuredParametersThatTakeNoTime) {
  const auto json = free_of_cost(full_profile());
  const auto written = Json::parse(to_json(parse(json)));
  const auto expect_kept = [&](const auto& self, const Json& before, const Json& after,
                               const std::string& path) -> void {
    for (std::size_t i = 0; before.is_array() && i < before.size(); ++i)
      self(self, before[i], after.at(i), path + "[" + std::to_string(i) + "]");
    if (!before.is_object()) return;
    for (const auto& [key, value] : before.items()) {
      EXPECT_TRUE(after.contains(key) || key == "alpha_next_s")  // which is left out where it is alpha_s
          << path << "." << key;
      if (after.contains(key) && key != "provenance") self(self, value, after.at(key), path + "." + key);
    }
  };
  expect_kept(expect_kept, json, written, "");
  EXPECT_EQ(written["levels"][0]["host"]["gamma_s"], 0.0);
  EXPECT_EQ(written["local"]["copy_block_s"], 0.0);
  EXPECT_EQ(written["operations"]["probe_s"], 0.0);
}

TEST(Profile, IsReadAsItWasWritten) {
  for (const auto& json : {full_profile(), least_profile()}) {
    const auto profile = parse(json);
    const auto text = to_json(profile);
    const auto again = parse_profile(text, "again");
    EXPECT_EQ(again.machine, profile.machine);
    EXPECT_EQ(Json::parse(again.provenance_json), json["provenance"]);
    EXPECT_EQ(to_json(again), text);
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(Json::parse(text), json) << "nothing is added and nothing lost";
  }
}

TEST(Profile, IsWrittenToAFileAndFoundByName) {
  const test::TemporaryDirectory directory;
  const auto profile = parse(full_profile());
  write_profile(profile, directory.path("mine.json"));
  EXPECT_EQ(directory.names(), std::vector<std::string>{"mine.json"});
  EXPECT_EQ(find_profile("mine", {directory.path()}), directory.path("mine.json"));
  EXPECT_EQ(find_profile(directory.path("mine.json"), {}), directory.path("mine.json"));
  EXPECT_EQ(read_profile(find_profile("mine", {"/nonexistent", directory.path()})).machine, profile.machine);
  expect_sentence(error_of([&] {
                    find_profile("yours", {directory.path(), "elsewhere"});
                  }),
                  {"profile yours", directory.path(), "elsewhere", "commpass profile list"});
  expect_sentence(error_of([&] { find_profile("no/such.json", {directory.path()}); }),
                  {"profile no/such.json", "no such file"});
  expect_sentence(error_of([&] { find_profile("", {directory.path()}); }), {"no such file"});
}

/// A profile that is wrong in one place, and what the error must say.
struct Broken {
  std::string path;  ///< JSON pointer to the value that is replaced or, with a null value, removed
  Json value;
  std::vector<std::string> parts;
  bool schema_sees_it = true;
};

Json remove(Json json, const std::string& pointer) {
  test::at_pointer(json, test::parent_of(pointer)).erase(test::last_of(pointer));
  return json;
}

const std::string first = "/levels/0/host/protocols/0", last = "/levels/0/host/protocols/2";

std::vector<Broken> broken_profiles() {
  std::vector<Broken> result{
      {"/schema_version", 4, {"key schema_version is 4", "versions 1 to 3", "calibrate again"}},
      {"/schema_version", "1", {"key schema_version is \"1\""}},
      {"/schema_version", 1.5, {"key schema_version is 1.5"}},
      {"/name", 5, {"key name is 5"}},
      {"/name", "", {"key name is \"\"", "non-empty"}},
      {"/provenance", "me", {"key provenance is no object"}},
      {"/provenance", Json::array(), {"key provenance is no object"}},
      {"/levels", Json::object(), {"key levels is no list"}},
      {"/levels", Json::array(), {"key levels is a list of 0", "give 2 to 8 levels"}},
      {"/levels", Json(std::vector<int>(most_levels + 1)), {"key levels is a list of 9", "give 2 to 8 levels"}},
      {"/levels",
       Json::array({{{"name", "node"}}, {{"name", "network"}}}),
       {"key levels has no 'host'", "one level at least"}},
      {"/levels", Json::array({{{"name", "node"}}}), {"key levels is a list of 1", "give 2 to 8 levels"}},
      {"/levels",
       Json::array({{{"name", "socket"}}, {{"name", "node"}}}),
       {"key levels ends with 'node'", "add the level of all nodes"}},
      {"/levels/0", 3, {"key levels[0] is no object"}},
      {"/levels/0/name", "Socket", {"key levels[0].name is \"Socket\"", "use a small letter"}},
      {"/levels/0/name", "leaf.switch", {"key levels[0].name is \"leaf.switch\"", "use a small letter"}},
      {"/levels/0/name", "4-sockets", {"key levels[0].name is \"4-sockets\"", "use a small letter"}},
      {"/levels/2/name",
       "numa",
       {"key levels[2].name is \"numa\", which is part of a node, outside 'node'", "list levels innermost first"},
       false},
      {"/levels/2/name", "cache", {"key levels[2].name is \"cache\"", "innermost first"}, false},
      {"/levels",
       Json::array({full_profile()["levels"][1], full_profile()["levels"][0], full_profile()["levels"][3]}),
       {"key levels[1].name is \"socket\", which is part of a node", "innermost first"},
       false},
      {"/levels",
       Json::array({full_profile()["levels"][2], full_profile()["levels"][1], full_profile()["levels"][3]}),
       {"key levels[0].name is \"group\", which consists of nodes, within 'node'", "innermost first"},
       false},
      {"/levels",
       Json::array({full_profile()["levels"][1], full_profile()["levels"][3], full_profile()["levels"][2]}),
       {"key levels[1].name is \"network\", which contains all nodes, within another level", "innermost first"},
       false},
      {"/levels/0/name", "group", {"key levels[2].name is \"group\", as that of another level"}, false},
      {"/levels/1/name", "board", {"key levels has no level 'node'", "whose ranks share memory"}},
      {"/levels/3/up_rate_bytes_per_s",
       1e9,
       {"key levels[3].up_rate_bytes_per_s has no meaning there", "outermost"},
       false},
      {"/levels/1/node_share_bytes_per_s",
       1e9,
       {"key levels[1].node_share_bytes_per_s has no meaning there", "outside 'node'"},
       false},
      {"/levels/1/alpha_s",
       1e-6,
       {"key levels[1].alpha_s is unknown", "move it to its place: levels.*.host.*.alpha_s or copy.*.*.alpha_s"}},
      {"/levels/1/up_rate_byte_per_s",
       1e9,
       {"key levels[1].up_rate_byte_per_s is unknown", "did you mean up_rate_bytes_per_s"}},
      {"/levels/2/messages_in_flight", 0, {"key levels[2].messages_in_flight is 0", "1 or more"}},
      {"/levels/2/up_messages_per_s", 0, {"key levels[2].up_messages_per_s is 0", "messages a second"}},
      {"/levels/0/host", 3, {"key levels[0].host is no object"}},
      {"/levels/0/host/protocols", Json::array(), {"key levels[0].host.protocols is empty", "at least one"}},
      {"/levels/0/host/protocols", Json::object(), {"key levels[0].host.protocols is no list"}},
      {"/levels/0/host/protocols", 1, {"key levels[0].host.protocols is no list"}},
      {first, 7, {"key levels[0].host.protocols[0] is no object"}},
      {first + "/name", "", {"key levels[0].host.protocols[0].name"}},
      {first + "/name",
       "eager",
       {"key levels[0].host.protocols[1].name is \"eager\", as that of another protocol", "name each protocol once"},
       false},
      {last + "/name", "short", {"key levels[0].host.protocols[2].name is \"short\", as that of another"}, false},
      {first + "/name", "a\nb", {"key levels[0].host.protocols[0].name is \"a\\nb\"", "visible characters"}, false},
      {"/name", "a\x1b[31m", {"key name is \"a\\u001b[31m\"", "visible characters"}, false},
      {"/name", "  ", {"key name is \"  \"", "visible characters"}, false},
      {"/copy/device_to_host/1/processes",
       1,
       {"key copy.device_to_host[1].processes is 1, as that of another entry", "keep one of the two"},
       false},
      {first + "/max_bytes", -1, {"key levels[0].host.protocols[0].max_bytes is -1", "0 or more"}},
      {first + "/max_bytes", 2.5, {"key levels[0].host.protocols[0].max_bytes is 2.5"}},
      {first + "/max_bytes", "big", {"key levels[0].host.protocols[0].max_bytes"}},
      {first + "/alpha_s", -1e-6, {"key levels[0].host.protocols[0].alpha_s is -1e-06", "0 or more"}},
      {first + "/alpha_s", "1e-6", {"key levels[0].host.protocols[0].alpha_s"}},
      {first + "/alpha_s", true, {"key levels[0].host.protocols[0].alpha_s is true"}},
      {first + "/alpha_s", Json::array({1}), {"key levels[0].host.protocols[0].alpha_s"}},
      {first + "/beta_s_per_byte", -1, {"key levels[0].host.protocols[0].beta_s_per_byte is -1"}},
      {first + "/alpha_next_s", -1, {"key levels[0].host.protocols[0].alpha_next_s is -1"}},
      {first + "/beta_next_s_per_byte", -1, {"key levels[0].host.protocols[0].beta_next_s_per_byte is -1"}},
      {first + "/alpha_receive_s", -1, {"key levels[0].host.protocols[0].alpha_receive_s is -1"}},
      {first + "/beta_receive_s_per_byte", -1, {"key levels[0].host.protocols[0].beta_receive_s_per_byte is -1"}},
      {"/levels/0/host/gamma_s", -1, {"key levels[0].host.gamma_s is -1"}},
      {"/levels/0/host/rendezvous_from_bytes", -1, {"key levels[0].host.rendezvous_from_bytes is -1"}},
      {"/levels/0/host/aggregate_rate_bytes_per_s",
       0,
       {"key levels[0].host.aggregate_rate_bytes_per_s is 0", "leave it out"}},
      {"/local", 5, {"key local is no object"}},
      {"/limits", 5, {"key limits is no object"}},
      {"/limits/messages_off_node", 0, {"key limits.messages_off_node is 0", "1 or more"}},
      {"/limits/messages_off_nodes", 3, {"key limits.messages_off_nodes is unknown", "did you mean messages_off_node"}},
      {first + "/alpha_s", 1e300, {"key levels[0].host.protocols[0].alpha_s is 1e+300", "at most 1000000"}},
      {first + "/alpha_s", 1000001, {"key levels[0].host.protocols[0].alpha_s is 1000001", "at most 1000000"}},
      {first + "/beta_s_per_byte",
       1e7,
       {"key levels[0].host.protocols[0].beta_s_per_byte is 10000000.0", "at most 1000000"}},
      {first + "/alpha_next_s", 1e300, {"key levels[0].host.protocols[0].alpha_next_s", "at most 1000000"}},
      {"/levels/0/host/gamma_s", 1e300, {"key levels[0].host.gamma_s", "at most 1000000"}},
      {"/copy/host_to_device/0/alpha_s", 1e300, {"key copy.host_to_device[0].alpha_s", "at most 1000000"}},
      {"/local/copy_block_s", 1e300, {"key local.copy_block_s", "at most 1000000"}},
      {"/operations/neighbor_alltoall_s",
       -1e7,
       {"key operations.neighbor_alltoall_s is -10000000.0", "-1000000 or more"}},
      {"/operations/neighbor_alltoall_s", 1e7, {"key operations.neighbor_alltoall_s is 10000000.0", "at most 1000000"}},
      {"/levels/1/up_rate_bytes_per_s",
       1e-300,
       {"key levels[1].up_rate_bytes_per_s is 1e-300", "1e-06 bytes a second or more"}},
      {"/levels/0/host/aggregate_rate_bytes_per_s",
       1e-300,
       {"key levels[0].host.aggregate_rate_bytes_per_s is 1e-300", "leave it out"}},
      {"/levels/1/up_rate_bytes_per_s", 0, {"key levels[1].up_rate_bytes_per_s is 0"}},
      {"/levels/1/up_rate_bytes_per_s", -4, {"key levels[1].up_rate_bytes_per_s is -4"}},
      {"/levels/1/down_rate_bytes_per_s", "fast", {"key levels[1].down_rate_bytes_per_s"}},
      {"/local/copy_rate_bytes_per_s", 0, {"key local.copy_rate_bytes_per_s is 0"}},
      {"/local/copy_block_s", -1, {"key local.copy_block_s is -1"}},
      {"/copy/device_to_host", Json::object(), {"key copy.device_to_host is no list"}},
      {"/copy/device_to_host/0/processes", 0, {"key copy.device_to_host[0].processes is 0"}},
      {"/copy/device_to_host/0/processes", 2000000000, {"key copy.device_to_host[0].processes is 2000000000"}},
      {"/copy/host_to_device/0/alpha_s", -1, {"key copy.host_to_device[0].alpha_s is -1"}},
      {"/operations/probe_s", -1, {"key operations.probe_s is -1"}},
      {"/operations/neighbor_alltoall_s", "fast", {"key operations.neighbor_alltoall_s is \"fast\"", "use a number"}},
      {"/operations", Json::array(), {"key operations is no object"}},
      {"/operations/new_send_bytes", 0, {"key operations.new_send_bytes is 0", "1 or more"}},
      {"/operations/ranks", 1, {"key operations.ranks is 1", "2 or more"}},
      {"/operations/ranks", 2.5, {"key operations.ranks is 2.5"}},
      {"/operations/ranks", 3000000000, {"key operations.ranks is 3000000000", "at most 2147483647"}},
      {"/local/datatype_rate_bytes_per_s", 0, {"key local.datatype_rate_bytes_per_s is 0"}},
      {"/local/datatype_block_s", -1, {"key local.datatype_block_s is -1"}},
      {first + "/max_bytes",
       18446744073709551615U,
       {"key levels[0].host.protocols[0].max_bytes is 18446744073709551615"}},
      // What a schema of draft 7 cannot say.
      {"/levels/0/host/protocols/1/max_bytes",
       0,
       {"key levels[0].host.protocols[1].max_bytes does not grow", "from small to large"},
       false}};
  // Unknown keys, everywhere.
  for (const auto* place : {"", "/levels/0", "/levels/0/host", "/levels/0/host/protocols/0", "/levels/3/device",
                            "/copy", "/copy/device_to_host/0", "/local", "/operations"})
    result.push_back({std::string(place) + "/surprise", 1, {"surprise is unknown", "spelling"}});
  return result;
}

TEST(Profile, ThatIsBrokenIsRefusedByReaderAndSchema) {
  for (const auto& [path, value, parts, schema_sees_it] : broken_profiles()) {
    SCOPED_TRACE(path + " = " + value.dump());
    auto json = full_profile();
    test::put(json, path, value);
    auto expected = parts;
    expected.push_back("p.json: key ");
    expect_sentence(error_for(json), expected);
    EXPECT_EQ(schema_accepts(json), !schema_sees_it);
  }
}

TEST(Profile, OfAMillionLevelsIsRefused) {
  auto json = full_profile();
  json["levels"] = std::vector<int>(1000000);
  const auto error = error_for(json);
  expect_sentence(error, {"p.json: key levels is a list of 1000000", "give 2 to 8 levels"});
  EXPECT_LT(error.size(), 200U);
}

TEST(Profile, WithALastProtocolThatEndsOrAnOtherThatDoesNotIsRefused) {
  auto ends = full_profile();
  test::at_pointer(ends, last)["max_bytes"] = Bytes{1} << 60;
  expect_sentence(error_for(ends),
                  {"p.json", "key levels[0].host.protocols[2].max_bytes limits the last protocol", "remove it"});
  EXPECT_FALSE(schema_accepts(ends));
  const auto endless = remove(full_profile(), first + "/max_bytes");
  expect_sentence(error_for(endless), {"p.json", "key levels[0].host.protocols[0].max_bytes is missing"});
}

TEST(Profile, NamesEachKeyThatIsMissing) {
  const std::pair<const char*, const char*> required[] = {
      {"/schema_version", "schema_version"},
      {"/name", "name"},
      {"/provenance", "provenance"},
      {"/levels", "levels"},
      {"/levels/0/name", "levels[0].name"},
      {"/levels/1/host/protocols", "levels[1].host.protocols"},
      {"/levels/0/host/protocols/0/name", "levels[0].host.protocols[0].name"},
      {"/levels/0/host/protocols/0/alpha_s", "levels[0].host.protocols[0].alpha_s"},
      {"/levels/0/host/protocols/2/beta_s_per_byte", "levels[0].host.protocols[2].beta_s_per_byte"},
      {"/copy/device_to_host/1/processes", "copy.device_to_host[1].processes"},
      {"/copy/device_to_host/1/alpha_s", "copy.device_to_host[1].alpha_s"},
      {"/copy/host_to_device/0/beta_s_per_byte", "copy.host_to_device[0].beta_s_per_byte"}};
  for (const auto& [pointer, name] : required) {
    const auto json = remove(full_profile(), pointer);
    expect_sentence(error_for(json), {"p.json", std::string("key ") + name + " is missing"});
    EXPECT_FALSE(schema_accepts(json)) << pointer;
  }
}

TEST(Profile, MayLackEverythingElse) {
  for (const auto* pointer : {"/levels/0/host",
                              "/levels/3/host",
                              "/levels/3/device",
                              "/levels/1/up_rate_bytes_per_s",
                              "/copy",
                              "/copy/device_to_host",
                              "/local",
                              "/local/copy_block_s",
                              "/local/value_run_s",
                              "/operations",
                              "/operations/put_s",
                              "/operations/neighbor_alltoall_message_s",
                              "/operations/alltoallv_s",
                              "/operations/alltoallv_message_s",
                              "/operations/alltoallv_rank_s",
                              "/operations/new_send_bytes",
                              "/operations/ranks",
                              "/local/datatype_rate_bytes_per_s",
                              "/local/datatype_block_s",
                              "/levels/0/host/gamma_s",
                              "/levels/0/host/rendezvous_from_bytes",
                              "/levels/0/host/aggregate_rate_bytes_per_s",
                              "/levels/0/host/protocols/0/alpha_next_s"}) {
    const auto json = remove(full_profile(), pointer);
    EXPECT_EQ(error_for(json), "") << pointer;
    EXPECT_TRUE(schema_accepts(json)) << pointer;
  }
}

TEST(Profile, ThatIsNoJsonIsRefused) {
  for (const std::string text : {"", "{", "nothing", "{\"schema_version\": 1,}", "{\"a\": NaN}", "{\"a\": Infinity}",
                                 "\xff\xfe", "[1, 2", "{\"name\": \"\xc3\x28\"}"})
    expect_sentence(error_of([&] { parse_profile(text, "p.json"); }),
                    {"p.json", "no JSON near byte", "calibrate again"});
  for (const std::string text : {"[]", "5", "null", "\"profile\""})
    expect_sentence(error_of([&] { parse_profile(text, "p.json"); }), {"p.json", "is no object"});
}

TEST(Profile, WithANumberBeyondDoublesIsRefused) {
  auto text = least_profile().dump();
  const auto place = text.find("\"alpha_s\":1");
  ASSERT_NE(place, std::string::npos);
  text.replace(place, std::string("\"alpha_s\":1").size(), "\"alpha_s\":1e999");
  expect_sentence(error_of([&] { parse_profile(text, "p.json"); }), {"p.json"});
}

TEST(Profile, WithAKeyTwiceIsRefusedByItsPlace) {
  const auto text = full_profile().dump();
  const auto doubled = [&](const std::string& before, const std::string& again) {
    auto result = text;
    const auto place = result.find(before);
    EXPECT_NE(place, std::string::npos) << before;
    return result.insert(place, again);
  };
  const std::pair<std::string, std::string> cases[] = {
      {doubled("\"schema_version\"", "\"schema_version\":1,"), "key schema_version is written twice"},
      {doubled("\"barrier_s\"", "\"barrier_s\":1,"), "key operations.barrier_s is written twice"},
      {doubled("\"max_bytes\":9007199254740993", "\"max_bytes\":5,"),
       "key levels[0].host.protocols[1].max_bytes is written twice"},
      {doubled("\"gamma_s\"", "\"protocols\":[],"), "key levels[0].host.protocols is written twice"},
      {doubled("\"alpha_s\"", "\"alpha\\u005fs\":1,"), "alpha_s is written twice"},
      {doubled("\"list\"", "\"list\":[{},[{\"a\":1},{\"a\":2,\"b\":[],\"a\":3}]],"),
       "key provenance.deep.list[1][1].a is written twice"}};
  for (const auto& each : cases)
    expect_sentence(error_of([&] { parse_profile(each.first, "p.json"); }), {"p.json", each.second, "keep one"});
}

TEST(Profile, WithRubbishBehindIsRefused) {
  const auto text = least_profile().dump();
  expect_sentence(error_of([&] { parse_profile(text + "}", "p.json"); }), {"p.json", "no JSON"});
  expect_sentence(error_of([&] { parse_profile(text + text, "p.json"); }), {"p.json", "no JSON"});
}

TEST(Profile, OfAnAbsurdDepthIsRefused) {
  constexpr int depth = 1000000;
  const auto nest = [](const std::string& open, const std::string& inside, const std::string& close) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += inside;
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  expect_sentence(error_of([&] { parse_profile(nest("[", "", ""), "p.json"); }), {"p.json"});
  expect_sentence(error_of([&] { parse_profile(nest("[", "", "]"), "p.json"); }), {"p.json"});
  auto text = least_profile().dump();
  const auto place = text.find("\"provenance\":{}");
  ASSERT_NE(place, std::string::npos);
  text.replace(place, std::string("\"provenance\":{}").size(),
               std::string("\"provenance\":") + nest("{\"a\":", "1", "}"));
  expect_sentence(error_of([&] { parse_profile(text, "p.json"); }), {"p.json", "nested"});
}

TEST(Profile, ThatIsTooLargeIsNotRead) {
  const test::TemporaryDirectory directory;
  const auto path = directory.write("large.json", least_profile().dump() + std::string(most_profile_bytes, ' '));
  expect_sentence(error_of([&] { read_profile(path); }), {"large.json", "more than 4MiB", "provenance"});
}

TEST(Profile, SurvivesDamage) {
  test::expect_robust(full_profile().dump(), [](const std::string& damaged) {
    const auto profile = parse_profile(damaged, "p.json");
    EXPECT_EQ(parse_profile(to_json(profile), "again").machine, profile.machine) << damaged;
  });
}

TEST(Profile, OfANewerMinorVersionKeepsKnownKeysAndTellsUnknownOnes) {
  auto json = full_profile();
  json["schema_minor"] = profile_schema_minor + 1;
  json["weather"] = "fine";
  json["levels"][1]["host"]["protocols"][0]["warmth_s"] = 3;
  json["verdict"]["mood"] = "good";
  const auto profile = parse(json);
  EXPECT_EQ(profile.machine, parse(full_profile()).machine);
  EXPECT_THAT(profile.unknown_keys,
              testing::UnorderedElementsAre("weather", "levels[1].host.protocols[0].warmth_s", "verdict.mood"));
  EXPECT_EQ(Json::parse(to_json(profile)), full_profile()) << "what this version knows is written as this version";
  json["levels"][1]["host"]["protocols"][0]["alpha_s"] = -1;
  expect_sentence(error_for(json), {"alpha_s is -1"});
}

TEST(Profile, OfTheSameMinorVersionHasNoUnknownKeys) {
  auto same = full_profile(), broken = full_profile();
  same["schema_minor"] = profile_schema_minor;
  EXPECT_TRUE(parse(same).unknown_keys.empty());
  EXPECT_TRUE(schema_accepts(same));
  same["weather"] = "fine";
  expect_sentence(error_for(same), {"key weather is unknown"});
  broken["schema_minor"] = -1;
  expect_sentence(error_for(broken), {"key schema_minor is -1"});
  for (const auto& json : {same, broken}) EXPECT_FALSE(schema_accepts(json)) << json;
}

TEST(Profile, WithAVerdictThatIsBrokenIsRefused) {
  auto wrong = full_profile(), negative = full_profile(), silent = full_profile();
  wrong["verdict"]["trust"] = "perhaps";
  expect_sentence(error_for(wrong), {"key verdict.trust is perhaps", "good, usable, do not trust"});
  negative["verdict"]["uncertainty"] = -0.1;
  expect_sentence(error_for(negative), {"key verdict.uncertainty is -0.1"});
  silent["verdict"].erase("why");
  expect_sentence(error_for(silent), {"key verdict.why is missing"});
  for (const auto& json : {wrong, negative, silent}) EXPECT_FALSE(schema_accepts(json)) << json;
}

TEST(Profile, MayHaveLevelsOfAnyNames) {
  auto json = least_profile();
  json["levels"] = {{{"name", "l2"}, {"host", json["levels"][0]["host"]}},
                    {{"name", "numa-domain"}},
                    {{"name", "node"}, {"up_rate_bytes_per_s", 1e10}},
                    {{"name", "leaf_switch"}, {"node_share_bytes_per_s", 1e9}}};
  const auto machine = parse(json).machine;
  EXPECT_EQ(machine.node_level(), 2);
  EXPECT_EQ(machine.levels[3].node_share_bytes_per_s, 1e9);
  EXPECT_EQ(Json::parse(to_json(parse(json))), json);
  EXPECT_TRUE(schema_accepts(json));
}

TEST(ProfileSchema, IsTheOneThatTheTableOfParametersGives) {
  EXPECT_EQ(test::contents_of(profiles + "/schema.json"), profile_schema())
      << "write profiles/schema.json with 'commpass profile schema'";
}

TEST(ProfileSchema, AcceptsWrittenProfiles) {
  for (const auto& json : {full_profile(), least_profile()})
    EXPECT_TRUE(schema_accepts(Json::parse(to_json(parse(json)))));
}

TEST(Profiles, ThatComeWithCommpassAreWrittenAsConvertWritesThem) {
  for (const auto& path : shipped_profiles()) EXPECT_EQ(test::contents_of(path), to_json(read_profile(path))) << path;
}

TEST(ProfileSchema, AcceptsTheProfilesThatComeWithCommpass) {
  std::set<std::string> names;
  for (const auto& path : shipped_profiles()) {
    EXPECT_TRUE(schema_accepts(Json::parse(test::contents_of(path)))) << path;
    const auto profile = read_profile(path);
    EXPECT_EQ(profile.machine.name, std::filesystem::path(path).stem()) << "named as its file";
    const auto provenance = Json::parse(profile.provenance_json);
    for (const auto* key : {"source", "measured", "assumed", "missing"})
      EXPECT_TRUE(provenance.contains(key)) << path << " does not say " << key;
    names.insert(profile.machine.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"blue-waters", "dane", "delta", "deltaai", "generic", "lassen",
                                          "lassen-mvapich", "marenostrum5", "summit", "tioga", "tuolumne"}));
}

struct Line {
  double alpha_s, beta_s_per_byte;
};

void expect_lines(const MemoryChannels& channels, const std::vector<std::array<Line, 3>>& by_protocol) {
  for (std::size_t p = 0; p < by_protocol.size(); ++p)
    for (std::size_t i = 0; i < by_protocol[p].size(); ++i) {
      const auto level = std::array{standard_level::socket, standard_level::node, standard_level::network}[i];
      const auto& protocols = channels.find(level)->protocols;
      ASSERT_EQ(protocols.size(), by_protocol.size());
      const auto& expected = by_protocol[p][i];
      EXPECT_EQ(protocols[p].alpha_s, expected.alpha_s) << standard_level::name(level) << ", protocol " << p;
      EXPECT_EQ(protocols[p].beta_s_per_byte, expected.beta_s_per_byte)
          << standard_level::name(level) << ", protocol " << p;
    }
}

// Node-aware paper, tables 2, 3 and 4.
TEST(Lassen, HasThePapersParameters) {
  const auto machine = read_profile(profiles + "/lassen.json").machine;
  EXPECT_EQ(machine.name, "lassen");
  expect_lines(machine.host, {{{{3.67e-7, 1.32e-10}, {9.25e-7, 1.19e-9}, {1.89e-6, 6.88e-10}}},
                              {{{4.61e-7, 7.12e-11}, {1.17e-6, 2.18e-10}, {2.44e-6, 3.79e-10}}},
                              {{{3.15e-6, 3.40e-11}, {6.77e-6, 1.49e-10}, {7.76e-6, 7.97e-11}}}});
  expect_lines(machine.device, {{{{1.87e-6, 5.79e-11}, {2.02e-5, 2.15e-10}, {8.95e-6, 1.72e-10}}},
                                {{{1.82e-5, 1.46e-11}, {1.93e-5, 2.39e-11}, {1.10e-5, 1.72e-10}}}});
  EXPECT_DOUBLE_EQ(machine.levels[standard_level::node].up_rate_bytes_per_s, 1 / 4.19e-11);
  // Short below 256 bytes, eager below 16 KiB.
  for (const auto& channel : machine.host.by_level) {
    if (!channel) continue;
    EXPECT_EQ(channel->protocols[0].max_bytes, 256 - 1);
    EXPECT_EQ(channel->protocols[1].max_bytes, 16 * 1024 - 1);
  }
}

// Refitted from the authors' public data.
TEST(BlueWaters, HasTheQueueOfThePublicationInOurUnits) {
  const auto machine = read_profile(profiles + "/blue-waters.json").machine;
  expect_lines(machine.host, {{{{4.42e-7, 4.56e-10}, {8.28e-7, 2.10e-9}, {2.27e-6, 7.42e-10}}},
                              {{{5.32e-7, 3.11e-10}, {1.21e-6, 1.04e-9}, {6.95e-6, 1.33e-9}}},
                              {{{1.67e-6, 1.60e-10}, {2.46e-6, 1.61e-10}, {6.20e-6, 3.236e-10}}}});
  EXPECT_DOUBLE_EQ(machine.host.find(standard_level::network)->gamma_s.value() / 2, 8.4e-9)
      << "the published one multiplies n²";
  EXPECT_FALSE(machine.host.find(standard_level::node)->gamma_s);
}

TEST(Summit, HasSharedRates) {
  const auto machine = read_profile(profiles + "/summit.json").machine;
  EXPECT_EQ(machine.levels[standard_level::node].up_rate_bytes_per_s, 23.8e9);
  EXPECT_EQ(machine.host_to_device.size(), 4U);
  EXPECT_TRUE(machine.device_to_host.empty()) << "not measured";
  EXPECT_TRUE(machine.device.empty()) << "not measured";
}

}  // namespace
}  // namespace commpass
