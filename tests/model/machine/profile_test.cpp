// Machine profiles: the strict reader, the writer, and the schema beside them.
#include "model/base/json.hpp"
#include "model/machine/profile_lookup.hpp"

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
Json full_profile() {
  return Json::parse(R"({
    "schema_version": 2, "schema_minor": 4, "name": "full", "provenance": {"by": "hand", "deep": {"list": [1, 2.5, null, "x"]}},
    "host": {
      "socket": {"protocols": [{"name": "short", "max_bytes": 0, "alpha_s": 1e-7, "beta_s_per_byte": 0, "alpha_next_s": 0, "beta_next_s_per_byte": 5e-11},
                               {"name": "eager", "max_bytes": 9007199254740993, "alpha_s": 2e-7, "beta_s_per_byte": 1e-10, "alpha_receive_s": 3e-7},
                               {"name": "rendezvous", "alpha_s": 3e-7, "beta_s_per_byte": 1e-11, "beta_receive_s_per_byte": 2e-11}],
                 "gamma_s": 1e-9, "rendezvous_from_bytes": 4097, "aggregate_rate_bytes_per_s": 1.5e10, "link_rate_bytes_per_s": 9e9},
      "node": {"protocols": [{"name": "all", "alpha_s": 0.1, "beta_s_per_byte": 0.3}]},
      "network": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}},
    "device": {"network": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}},
    "injection": {"rate_bytes_per_s": 2.5e10}, "ejection": {"rate_bytes_per_s": 2e10}, "core": {"rate_bytes_per_s": 1e10}, "group": {"rate_bytes_per_s": 4e10}, "bus": {"rate_bytes_per_s": 3e10},
    "copy": {"device_to_host": [{"processes": 1, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}, {"processes": 4, "alpha_s": 2e-5, "beta_s_per_byte": 2e-11}],
             "host_to_device": [{"processes": 1, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}]},
    "local": {"copy_rate_bytes_per_s": 8e9, "copy_block_s": 2e-8, "value_run_s": 2e-9, "datatype_rate_bytes_per_s": 2e9, "datatype_block_s": 3e-8},
    "operations": {"barrier_s": 1e-6, "allreduce_s": 2e-6, "probe_s": 3e-6, "put_s": 4e-6, "fence_s": 5e-6, "window_s": 6e-6,
                   "neighbor_alltoall_s": 7e-6, "neighbor_alltoall_message_s": -8e-8, "alltoallv_s": -9e-6, "alltoallv_message_s": 1e-8, "batch_s": 1e-8, "batch_once_s": 2e-8, "discovery_s": 3e-8, "new_send_bytes": 256, "ranks": 48}})");
}

/// The least that a profile needs.
Json least_profile() {
  return Json::parse(
      R"({"schema_version": 1, "name": "least", "provenance": {}, "host": {"node": {"protocols": [{"name": "all", "alpha_s": 1, "beta_s_per_byte": 2}]}}})");
}

Profile parse(const Json& json) { return parse_profile(json.dump(), "p.json"); }
std::string error_for(const Json& json) {
  return error_of([&] { parse(json); });
}

bool schema_accepts(const Json& json) {
  return test::schema_accepts(test::contents_of(profiles + "/schema.json"), json.dump());
}

TEST(Profile, HasEveryParameter) {
  const auto machine = parse(full_profile()).machine;
  EXPECT_EQ(machine.name, "full");
  const auto& socket = *machine.host.find(Locality::socket);
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
  EXPECT_EQ(socket.protocols[2].max_bytes, std::numeric_limits<Bytes>::max());
  EXPECT_EQ(socket.gamma_s, 1e-9);
  EXPECT_EQ(socket.rendezvous_from_bytes, 4097);
  EXPECT_FALSE(machine.host.find(Locality::node)->rendezvous_from_bytes);
  EXPECT_EQ(socket.aggregate_rate_bytes_per_s, 1.5e10);
  EXPECT_EQ(socket.link_rate_bytes_per_s, 9e9);
  EXPECT_FALSE(machine.host.find(Locality::node)->gamma_s);
  EXPECT_EQ(machine.injection_rate_bytes_per_s, 2.5e10);
  EXPECT_EQ(machine.ejection_rate_bytes_per_s, 2e10);
  EXPECT_EQ(machine.core_rate_bytes_per_s, 1e10);
  EXPECT_EQ(machine.bus_rate_bytes_per_s, 3e10);
  EXPECT_EQ(machine.group_rate_bytes_per_s, 4e10);
  EXPECT_EQ(machine.device_to_host, (std::vector<DeviceCopy>{{1, 1e-5, 1e-11}, {4, 2e-5, 2e-11}}));
  EXPECT_EQ(machine.host_to_device.size(), 1U);
  EXPECT_EQ(machine.copy_rate_bytes_per_s, 8e9);
  EXPECT_EQ(machine.copy_block_s, 2e-8);
  EXPECT_EQ(machine.value_run_s, 2e-9);
  EXPECT_EQ(machine.datatype_rate_bytes_per_s, 2e9);
  EXPECT_EQ(machine.datatype_block_s, 3e-8);
  EXPECT_EQ(machine.operations.barrier_s, 1e-6);
  EXPECT_EQ(machine.operations.window_s, 6e-6);
  EXPECT_EQ(machine.operations.neighbor_alltoall_s, 7e-6);
  EXPECT_EQ(machine.operations.neighbor_alltoall_message_s, -8e-8) << "a difference may be negative";
  EXPECT_EQ(machine.operations.alltoallv_s, -9e-6);
  EXPECT_EQ(machine.operations.alltoallv_message_s, 1e-8);
  EXPECT_EQ(machine.operations.batch_s, 1e-8);
  EXPECT_EQ(machine.operations.batch_once_s, 2e-8);
  EXPECT_EQ(machine.operations.discovery_s, 3e-8);
  EXPECT_EQ(machine.operations.new_send_bytes, 256);
  EXPECT_EQ(machine.operations.ranks, 48);
  const auto operations = measured_operations(machine.operations);
  ASSERT_EQ(operations.size(), 13U);
  EXPECT_EQ(operations.front(), (std::pair<std::string, Seconds>("barrier_s", 1e-6)));
}

TEST(Operations, OfOtherNumbersOfRanksTakeAsManyRoundsAsTheLogarithmSays) {
  OperationCosts operations;
  EXPECT_EQ(collective_seconds(operations, 7, 1000), 7) << "nobody knows with how many ranks it was measured";
  operations.ranks = 16;
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 16), 4);
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 17), 5);
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 1024), 10);
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 2), 1);
  EXPECT_EQ(collective_seconds(operations, 4, 1), 0) << "nobody to wait for";
  operations.ranks = 2;
  EXPECT_DOUBLE_EQ(collective_seconds(operations, 4, 3), 8);
}

TEST(Profile, WithTheLeastHasRatesWithoutLimitAndCostsOfZero) {
  const auto machine = parse(least_profile()).machine;
  EXPECT_FALSE(machine.host.has(Locality::socket));
  EXPECT_EQ(machine.host.find(Locality::socket), machine.host.find(Locality::node)) << "the next slower one";
  EXPECT_EQ(machine.host.find(Locality::network), nullptr) << "never a faster one";
  EXPECT_TRUE(std::isinf(machine.injection_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(machine.copy_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(machine.host.find(Locality::node)->aggregate_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(machine.host.find(Locality::node)->link_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(machine.core_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(machine.bus_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(machine.group_rate_bytes_per_s));
  EXPECT_FALSE(machine.copy_block_s);
  EXPECT_FALSE(machine.value_run_s);
  EXPECT_FALSE(machine.operations.barrier_s);
  EXPECT_FALSE(machine.operations.ranks);
  EXPECT_FALSE(machine.datatype_rate_bytes_per_s);
  EXPECT_FALSE(machine.datatype_block_s);
  EXPECT_TRUE(measured_operations(machine.operations).empty());
  EXPECT_TRUE(machine.device.empty());
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

TEST(Profile, KeepsWhatWasMeasuredAndTakesNoTime) {
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
  EXPECT_EQ(written["host"]["socket"]["gamma_s"], 0.0);
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
  std::string path;  ///< JSON pointer of what is replaced or, with a null value, removed
  Json value;
  std::vector<std::string> parts;
  bool schema_sees_it = true;
};

Json remove(Json json, const std::string& pointer) {
  test::at_pointer(json, test::parent_of(pointer)).erase(test::last_of(pointer));
  return json;
}

const std::string first = "/host/socket/protocols/0", last = "/host/socket/protocols/2";

std::vector<Broken> broken_profiles() {
  std::vector<Broken> result{
      {"/schema_version", 3, {"key schema_version is 3", "versions 1 and 2", "calibrate again"}},
      {"/schema_version", "1", {"key schema_version is \"1\""}},
      {"/schema_version", 1.5, {"key schema_version is 1.5"}},
      {"/name", 5, {"key name is 5"}},
      {"/name", "", {"key name is \"\"", "non-empty"}},
      {"/provenance", "me", {"key provenance is no object"}},
      {"/provenance", Json::array(), {"key provenance is no object"}},
      {"/host", Json::object(), {"key host has no locality", "socket, node or network"}},
      {"/host", Json::array(), {"key host is no object"}},
      {"/host", 3, {"key host is no object"}},
      {"/host/socket", 3, {"key host.socket is no object"}},
      {"/host/socket/protocols", Json::array(), {"key host.socket.protocols is empty", "at least one"}},
      {"/host/socket/protocols", Json::object(), {"key host.socket.protocols is no list"}},
      {"/host/socket/protocols", 1, {"key host.socket.protocols is no list"}},
      {first, 7, {"key host.socket.protocols[0] is no object"}},
      {first + "/name", "", {"key host.socket.protocols[0].name"}},
      {first + "/max_bytes", -1, {"key host.socket.protocols[0].max_bytes is -1", "0 or more"}},
      {first + "/max_bytes", 2.5, {"key host.socket.protocols[0].max_bytes is 2.5"}},
      {first + "/max_bytes", "big", {"key host.socket.protocols[0].max_bytes"}},
      {first + "/alpha_s", -1e-6, {"key host.socket.protocols[0].alpha_s is -1e-06", "0 or more"}},
      {first + "/alpha_s", "1e-6", {"key host.socket.protocols[0].alpha_s"}},
      {first + "/alpha_s", true, {"key host.socket.protocols[0].alpha_s is true"}},
      {first + "/alpha_s", Json::array({1}), {"key host.socket.protocols[0].alpha_s"}},
      {first + "/beta_s_per_byte", -1, {"key host.socket.protocols[0].beta_s_per_byte is -1"}},
      {first + "/alpha_next_s", -1, {"key host.socket.protocols[0].alpha_next_s is -1"}},
      {first + "/beta_next_s_per_byte", -1, {"key host.socket.protocols[0].beta_next_s_per_byte is -1"}},
      {first + "/alpha_receive_s", -1, {"key host.socket.protocols[0].alpha_receive_s is -1"}},
      {first + "/beta_receive_s_per_byte", -1, {"key host.socket.protocols[0].beta_receive_s_per_byte is -1"}},
      {"/host/socket/gamma_s", -1, {"key host.socket.gamma_s is -1"}},
      {"/host/socket/rendezvous_from_bytes", -1, {"key host.socket.rendezvous_from_bytes is -1"}},
      {"/host/socket/aggregate_rate_bytes_per_s",
       0,
       {"key host.socket.aggregate_rate_bytes_per_s is 0", "leave it out"}},
      {"/injection", 5, {"key injection is no object"}},
      {first + "/alpha_s", 1e300, {"key host.socket.protocols[0].alpha_s is 1e+300", "at most 1000000"}},
      {first + "/alpha_s", 1000001, {"key host.socket.protocols[0].alpha_s is 1000001", "at most 1000000"}},
      {first + "/beta_s_per_byte",
       1e7,
       {"key host.socket.protocols[0].beta_s_per_byte is 10000000.0", "at most 1000000"}},
      {first + "/alpha_next_s", 1e300, {"key host.socket.protocols[0].alpha_next_s", "at most 1000000"}},
      {"/host/socket/gamma_s", 1e300, {"key host.socket.gamma_s", "at most 1000000"}},
      {"/copy/host_to_device/0/alpha_s", 1e300, {"key copy.host_to_device[0].alpha_s", "at most 1000000"}},
      {"/local/copy_block_s", 1e300, {"key local.copy_block_s", "at most 1000000"}},
      {"/operations/neighbor_alltoall_s",
       -1e7,
       {"key operations.neighbor_alltoall_s is -10000000.0", "-1000000 or more"}},
      {"/operations/neighbor_alltoall_s", 1e7, {"key operations.neighbor_alltoall_s is 10000000.0", "at most 1000000"}},
      {"/injection/rate_bytes_per_s",
       1e-300,
       {"key injection.rate_bytes_per_s is 1e-300", "1e-06 bytes a second or more"}},
      {"/host/socket/aggregate_rate_bytes_per_s",
       1e-300,
       {"key host.socket.aggregate_rate_bytes_per_s is 1e-300", "leave it out"}},
      {"/injection/rate_bytes_per_s", 0, {"key injection.rate_bytes_per_s is 0"}},
      {"/injection/rate_bytes_per_s", -4, {"key injection.rate_bytes_per_s is -4"}},
      {"/ejection/rate_bytes_per_s", "fast", {"key ejection.rate_bytes_per_s"}},
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
      {first + "/max_bytes", 18446744073709551615U, {"key host.socket.protocols[0].max_bytes is 18446744073709551615"}},
      // What a schema of draft 7 cannot say.
      {"/host/socket/protocols/1/max_bytes",
       0,
       {"key host.socket.protocols[1].max_bytes does not grow", "from small to large"},
       false}};
  // Unknown keys, everywhere.
  for (const auto* place : {"", "/host", "/host/socket", "/host/socket/protocols/0", "/device", "/injection",
                            "/ejection", "/copy", "/copy/device_to_host/0", "/local", "/operations"})
    result.push_back({std::string(place) + "/surprise", 1, {"surprise is unknown", "spelling"}});
  result.push_back({"/host/sockte", full_profile()["host"]["socket"], {"key host.sockte is unknown"}});
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

TEST(Profile, WithALastProtocolThatEndsOrAnOtherThatDoesNotIsRefused) {
  auto ends = full_profile();
  test::at_pointer(ends, last)["max_bytes"] = Bytes{1} << 60;
  expect_sentence(error_for(ends),
                  {"p.json", "key host.socket.protocols[2].max_bytes limits the last protocol", "remove it"});
  EXPECT_FALSE(schema_accepts(ends));
  const auto endless = remove(full_profile(), first + "/max_bytes");
  expect_sentence(error_for(endless), {"p.json", "key host.socket.protocols[0].max_bytes is missing"});
}

TEST(Profile, NamesEachKeyThatIsMissing) {
  const std::pair<const char*, const char*> required[] = {
      {"/schema_version", "schema_version"},
      {"/name", "name"},
      {"/provenance", "provenance"},
      {"/host", "host"},
      {"/host/node/protocols", "host.node.protocols"},
      {"/host/socket/protocols/0/name", "host.socket.protocols[0].name"},
      {"/host/socket/protocols/0/alpha_s", "host.socket.protocols[0].alpha_s"},
      {"/host/socket/protocols/2/beta_s_per_byte", "host.socket.protocols[2].beta_s_per_byte"},
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
  for (const auto* pointer : {"/host/socket",
                              "/host/network",
                              "/device",
                              "/device/network",
                              "/injection",
                              "/injection/rate_bytes_per_s",
                              "/ejection",
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
                              "/operations/new_send_bytes",
                              "/operations/ranks",
                              "/local/datatype_rate_bytes_per_s",
                              "/local/datatype_block_s",
                              "/host/socket/gamma_s",
                              "/host/socket/rendezvous_from_bytes",
                              "/host/socket/aggregate_rate_bytes_per_s",
                              "/host/socket/protocols/0/alpha_next_s"}) {
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
       "key host.socket.protocols[1].max_bytes is written twice"},
      {doubled("\"socket\"", "\"network\":{\"protocols\":[]},"), "key host.network is written twice"},
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

TEST(Profile, OfADepthThatNobodyWritesIsRefused) {
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

/// One that its calibration judged.
Json judged_profile() {
  auto json = least_profile();
  json["schema_version"] = 2;
  json["verdict"] = {{"trust", "do not trust"}, {"uncertainty", 0.4}, {"why", "it is made up"}, {"remedy", "measure"}};
  return json;
}

TEST(Profile, KeepsItsVerdict) {
  const auto verdict = parse(judged_profile()).machine.verdict;
  EXPECT_EQ(verdict, (Verdict{Trust::none, 0.4, "it is made up", "measure"}));
  const auto written = Json::parse(to_json(parse(judged_profile())));
  EXPECT_EQ(written, judged_profile());
  EXPECT_TRUE(schema_accepts(written));
  EXPECT_EQ(Json::parse(to_json(parse(least_profile())))["schema_version"], 1) << "an older Commpass reads it";
}

TEST(Profile, OfANewerMinorVersionKeepsWhatIsKnownAndTellsWhatIsNot) {
  auto json = judged_profile();
  json["schema_minor"] = 5;
  json["weather"] = "fine";
  json["host"]["node"]["protocols"][0]["warmth_s"] = 3;
  json["verdict"]["mood"] = "good";
  const auto profile = parse(json);
  EXPECT_EQ(profile.machine, parse(judged_profile()).machine);
  EXPECT_THAT(profile.unknown_keys,
              testing::UnorderedElementsAre("weather", "host.node.protocols[0].warmth_s", "verdict.mood"));
  EXPECT_EQ(Json::parse(to_json(profile)), judged_profile()) << "what this version knows is written as this version";
  json["host"]["node"]["protocols"][0]["alpha_s"] = -1;
  expect_sentence(error_for(json), {"alpha_s is -1"});
}

TEST(Profile, OfTheSameMinorVersionOrAnOlderOneHasNoUnknownKeys) {
  auto same = judged_profile(), broken = judged_profile(), old = least_profile();
  same["schema_minor"] = 0;
  EXPECT_TRUE(parse(same).unknown_keys.empty());
  EXPECT_TRUE(schema_accepts(same));
  same["weather"] = "fine";
  expect_sentence(error_for(same), {"key weather is unknown"});
  broken["schema_minor"] = -1;
  expect_sentence(error_for(broken), {"key schema_minor is -1"});
  old["schema_minor"] = 1;
  expect_sentence(error_for(old), {"key schema_minor is unknown"});
  for (const auto& json : {same, broken, old}) EXPECT_FALSE(schema_accepts(json)) << json;
}

TEST(Profile, TellsTheDevicesOfANodeSinceMinorVersionOne) {
  auto json = judged_profile();
  json["schema_minor"] = 1;
  json["devices"] = {{"per_node", 4}};
  EXPECT_EQ(parse(json).machine.devices_per_node, 4);
  EXPECT_EQ(Json::parse(to_json(parse(json))), json);
  EXPECT_TRUE(schema_accepts(json));
  json["devices"] = {{"per_node", 4}, {"copy_rate_bytes_per_s", 5e11}, {"copy_call_s", 0}};
  EXPECT_EQ(parse(json).machine.device_copy_rate_bytes_per_s, 5e11);
  EXPECT_EQ(parse(json).machine.device_copy_call_s, 0);
  EXPECT_EQ(Json::parse(to_json(parse(json))), json);
  EXPECT_TRUE(schema_accepts(json));
  json.erase("verdict");
  EXPECT_EQ(Json::parse(to_json(parse(json)))["schema_version"], 2);
  for (const auto& wrong : {Json(0), Json(-1), Json(1.5), Json("4"), Json(std::int64_t{1} << 31)}) {
    json["devices"]["per_node"] = wrong;
    EXPECT_NE(error_for(json), "") << wrong;
    EXPECT_FALSE(schema_accepts(json)) << wrong;
  }
  auto old = least_profile();
  old["devices"] = {{"per_node", 4}};
  expect_sentence(error_for(old), {"key devices is unknown"});
  EXPECT_FALSE(schema_accepts(old));
}

TEST(Profile, TellsSendsWithNewRequestsSinceMinorVersionFour) {
  auto json = judged_profile();
  json["schema_minor"] = 4;
  json["operations"] = {{"new_send_bytes", 256}};
  EXPECT_EQ(parse(json).machine.operations.new_send_bytes, 256);
  EXPECT_EQ(Json::parse(to_json(parse(json))), json);
  EXPECT_TRUE(schema_accepts(json));
  json["operations"]["new_send_bytes"] = 2.5;
  EXPECT_NE(error_for(json), "");
  EXPECT_FALSE(schema_accepts(json));
  auto old = least_profile();
  old["operations"] = {{"new_send_bytes", 256}};
  expect_sentence(error_for(old), {"key operations.new_send_bytes is unknown"});
  EXPECT_FALSE(schema_accepts(old));
}

TEST(Profile, TellsLoopsOverValuesSinceMinorVersionThree) {
  auto json = judged_profile();
  json["schema_minor"] = 3;
  json["local"] = {{"value_run_s", 3e-9}};
  EXPECT_EQ(parse(json).machine.value_run_s, 3e-9);
  EXPECT_EQ(Json::parse(to_json(parse(json))), json);
  EXPECT_TRUE(schema_accepts(json));
  json["local"]["value_run_s"] = -1;
  expect_sentence(error_for(json), {"key local.value_run_s is -1"});
  EXPECT_FALSE(schema_accepts(json));
  auto old = least_profile();
  old["local"] = {{"value_run_s", 3e-9}};
  expect_sentence(error_for(old), {"key local.value_run_s is unknown"});
  EXPECT_FALSE(schema_accepts(old));
}

TEST(Profile, WithAVerdictThatIsBrokenIsRefused) {
  auto wrong = judged_profile(), old = judged_profile(), negative = judged_profile(), silent = judged_profile();
  wrong["verdict"]["trust"] = "perhaps";
  expect_sentence(error_for(wrong), {"key verdict.trust is perhaps", "good, usable, do not trust"});
  old["schema_version"] = 1;
  expect_sentence(error_for(old), {"key verdict is unknown"});
  negative["verdict"]["uncertainty"] = -0.1;
  expect_sentence(error_for(negative), {"key verdict.uncertainty is -0.1"});
  silent["verdict"].erase("why");
  expect_sentence(error_for(silent), {"key verdict.why is missing"});
  for (const auto& json : {wrong, old, negative, silent}) EXPECT_FALSE(schema_accepts(json)) << json;
}

TEST(ProfileSchema, AcceptsWhatIsWritten) {
  for (const auto& json : {full_profile(), least_profile()})
    EXPECT_TRUE(schema_accepts(Json::parse(to_json(parse(json)))));
}

TEST(ProfileSchema, AcceptsTheProfilesThatComeWithCommpass) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(profiles)) {
    if (entry.path().extension() != ".json" || entry.path().stem() == "schema") continue;
    EXPECT_TRUE(schema_accepts(Json::parse(test::contents_of(entry.path().string())))) << entry.path();
    const auto profile = read_profile(entry.path().string());
    EXPECT_EQ(profile.machine.name, entry.path().stem()) << "named as its file";
    const auto provenance = Json::parse(profile.provenance_json);
    for (const auto* key : {"source", "measured", "assumed", "missing"})
      EXPECT_TRUE(provenance.contains(key)) << entry.path() << " does not say " << key;
    names.insert(profile.machine.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"blue-waters", "dane", "deltaai", "generic", "lassen", "lassen-mvapich",
                                          "summit", "tioga", "tuolumne"}));
}

struct Line {
  double alpha_s, beta_s_per_byte;
};

void expect_lines(const MemoryChannels& channels, const std::vector<std::array<Line, 3>>& by_protocol) {
  for (std::size_t p = 0; p < by_protocol.size(); ++p)
    for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
      const auto& protocols = channels.find(locality)->protocols;
      ASSERT_EQ(protocols.size(), by_protocol.size());
      const auto& expected = by_protocol[p][static_cast<std::size_t>(locality)];
      EXPECT_EQ(protocols[p].alpha_s, expected.alpha_s) << name_of(locality) << ", protocol " << p;
      EXPECT_EQ(protocols[p].beta_s_per_byte, expected.beta_s_per_byte) << name_of(locality) << ", protocol " << p;
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
  EXPECT_DOUBLE_EQ(machine.injection_rate_bytes_per_s, 1 / 4.19e-11);
  // Short below 256 bytes, eager below 16 KiB.
  for (const auto& channel : machine.host.by_locality) {
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
  EXPECT_DOUBLE_EQ(machine.host.find(Locality::network)->gamma_s.value() / 2, 8.4e-9)
      << "the published one multiplies n²";
  EXPECT_FALSE(machine.host.find(Locality::node)->gamma_s);
}

TEST(Summit, HasWhatIsShared) {
  const auto machine = read_profile(profiles + "/summit.json").machine;
  EXPECT_EQ(machine.injection_rate_bytes_per_s, 23.8e9);
  EXPECT_EQ(machine.host_to_device.size(), 4U);
  EXPECT_TRUE(machine.device_to_host.empty()) << "not measured";
  EXPECT_TRUE(machine.device.empty()) << "not measured";
}

// A rate of R bytes per second is a β of 1/R.
TEST(ProfilesFromRates, HaveTheirInverse) {
  const std::pair<const char*, double> rendezvous_rates[] = {
      {"lassen-mvapich", 20.6e9}, {"deltaai", 23.5e9}, {"tuolumne", 24.0e9}, {"tioga", 15.1e9}, {"dane", 17.9e9}};
  for (const auto& [name, rate] : rendezvous_rates) {
    const auto machine = read_profile(profiles + "/" + name + ".json").machine;
    EXPECT_NEAR(machine.host.find(Locality::network)->protocols.back().beta_s_per_byte * rate, 1, 1e-3) << name;
    EXPECT_FALSE(machine.host.has(Locality::socket) || machine.host.has(Locality::node)) << name << ": not measured";
  }
}

}  // namespace
}  // namespace commpass
