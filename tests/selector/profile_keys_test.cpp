// Every key of a profile: the documentation says what its absence means, and prices do what it says.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/cost/plan_cost.hpp"
#include "model/cost/value_loops.hpp"
#include "model/json_pointer.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {
namespace {

/// The keys that a schema allows; required ones begin with '!'. Lists have [] behind them, localities are *, the device
/// has the keys of the host.
void collect(const Json& schema, const Json& node, const std::string& path, std::set<std::string>& keys) {
  if (node.contains("$ref"))
    return collect(schema, test::at_pointer(schema, node["$ref"].get<std::string>().substr(1)), path, keys);
  if (node.contains("allOf"))
    for (const auto& part : node["allOf"]) collect(schema, part, path, keys);
  if (node.contains("items")) collect(schema, node["items"], path + "[]", keys);
  if (!node.contains("properties")) return;
  const auto required = node.value("required", std::vector<std::string>());
  for (const auto& [key, value] : node["properties"].items()) {
    const bool is_needed = std::ranges::find(required, key) != required.end();
    const bool is_locality = path == "host" || path == "device";
    const auto full = path.empty() ? key : path + "." + key;
    keys.insert((is_needed ? "!" : "") + full);
    collect(schema, value, is_locality ? path + ".*" : full, keys);
  }
}

std::set<std::string> keys_of_schema() {
  std::set<std::string> keys;
  const auto schema = Json::parse(test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/schema.json"));
  collect(schema, schema, "", keys);
  std::erase_if(keys, [](const std::string& key) { return key.starts_with("device.") || key.starts_with("!device."); });
  return keys;
}

/// The rows of the table in the documentation, by the keys in their first cell.
std::map<std::string, std::string> rows_of_documentation() {
  std::map<std::string, std::string> rows;
  for (const auto& line : split(test::contents_of(COMMPASS_TEST_PROFILE_KEYS), '\n')) {
    if (!line.starts_with("| `")) continue;
    const auto cells = split(line, '|');
    const auto names = split(cells.at(1), '`');
    for (std::size_t i = 1; i < names.size(); i += 2)
      EXPECT_TRUE(rows.emplace(names[i], line).second) << names[i] << " has two rows";
  }
  return rows;
}

/// A machine of which everything is known, with 16 ranks.
Json full_profile() {
  return Json::parse(
      R"({"schema_version": 2, "schema_minor": 4, "name": "full", "provenance": {}, "verdict": {"trust": "good", "uncertainty": 0, "why": "it is made up", "remedy": "none"},
    "host": {"socket": {"protocols": [{"name": "short", "max_bytes": 512, "alpha_s": 4e-7, "beta_s_per_byte": 1e-10, "alpha_next_s": 2e-7, "beta_next_s_per_byte": 5e-11, "alpha_receive_s": 1e-7, "beta_receive_s_per_byte": 2e-10},
                                      {"name": "eager", "alpha_s": 6e-7, "beta_s_per_byte": 1e-10, "alpha_next_s": 3e-7, "beta_next_s_per_byte": 5e-11, "alpha_receive_s": 2e-7, "beta_receive_s_per_byte": 2e-10}],
                        "gamma_s": 1e-8, "rendezvous_from_bytes": 4097, "aggregate_rate_bytes_per_s": 2e9, "link_rate_bytes_per_s": 1e9},
             "node": {"protocols": [{"name": "short", "max_bytes": 512, "alpha_s": 8e-7, "beta_s_per_byte": 2e-10, "alpha_next_s": 4e-7, "beta_next_s_per_byte": 1e-10, "alpha_receive_s": 3e-7, "beta_receive_s_per_byte": 3e-10},
                                    {"name": "eager", "alpha_s": 9e-7, "beta_s_per_byte": 2e-10, "alpha_next_s": 5e-7, "beta_next_s_per_byte": 1e-10, "alpha_receive_s": 3e-7, "beta_receive_s_per_byte": 3e-10}],
                      "gamma_s": 2e-8, "rendezvous_from_bytes": 4097, "aggregate_rate_bytes_per_s": 1e9, "link_rate_bytes_per_s": 8e8},
             "network": {"protocols": [{"name": "short", "max_bytes": 512, "alpha_s": 2e-6, "beta_s_per_byte": 1e-9, "alpha_next_s": 1e-6, "beta_next_s_per_byte": 5e-10, "alpha_receive_s": 5e-7, "beta_receive_s_per_byte": 2e-9},
                                       {"name": "eager", "alpha_s": 4e-6, "beta_s_per_byte": 2e-10, "alpha_next_s": 2e-6, "beta_next_s_per_byte": 1e-10, "alpha_receive_s": 1e-6, "beta_receive_s_per_byte": 4e-10}],
                         "gamma_s": 3e-8, "rendezvous_from_bytes": 300, "aggregate_rate_bytes_per_s": 1e9, "link_rate_bytes_per_s": 5e8}},
    "device": {"network": {"protocols": [{"name": "all", "alpha_s": 1e-5, "beta_s_per_byte": 1e-9}]}},
    "injection": {"rate_bytes_per_s": 5e8}, "ejection": {"rate_bytes_per_s": 4e8}, "core": {"rate_bytes_per_s": 3e8}, "group": {"rate_bytes_per_s": 3e8}, "bus": {"rate_bytes_per_s": 1e9},
    "copy": {"device_to_host": [{"processes": 1, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}], "host_to_device": [{"processes": 1, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}]}, "devices": {"per_node": 2, "copy_rate_bytes_per_s": 3e9, "copy_call_s": 4e-6},
    "local": {"copy_rate_bytes_per_s": 5e9, "copy_block_s": 3e-8, "value_run_s": 5e-9, "datatype_rate_bytes_per_s": 6e9, "datatype_block_s": 2e-8},
    "operations": {"barrier_s": 4e-6, "allreduce_s": 7e-6, "probe_s": 9e-7, "put_s": 3e-7, "fence_s": 5e-6, "window_s": 6e-5, "neighbor_alltoall_s": 1e-6, "neighbor_alltoall_message_s": 2e-7,
                   "alltoallv_s": 2e-6, "alltoallv_message_s": 3e-7,
                   "batch_s": 1e-7, "batch_once_s": 2e-7, "discovery_s": 2e-6, "new_send_bytes": 1000, "ranks": 4}})");
}

const auto layout = Layout::regular(1, 2, 4, 2);  // two groups of one node
using Prices = std::map<std::string, Seconds>;

/// An exchange in one stage, whose receiver sends nothing: where it is the same whether a rank takes in while it sends,
/// or waits for a receive.
Prices prices_of_one_way(const Machine& machine) {
  Pattern pattern{layout.ranks(), {}};
  constexpr Rank receiver = 0;
  for (Rank source = 1; source < layout.ranks(); ++source)
    pattern.edges.push_back({source, receiver, source % 3 == 0 ? 700 : 400});
  return {{"standard", price(parse_strategy("standard"), pattern, layout, without_sharing(machine))
                           .cost.seconds}};  // the NICs would decide
}

Prices prices_of_sparse(const Machine& machine) {
  Prices prices;
  for (const auto& candidate : SparseChoice(layout, machine, true).rank(expected_traffic(5, 600, layout)))
    prices["sparse " + to_string(candidate.strategy)] = candidate.seconds;
  return prices;
}

Prices prices_of_value_loops(const Machine& machine) { return {{"value loop", value_loop_seconds(machine, 100, 800)}}; }

/// All kinds of prices.
Prices prices_of(const Machine& machine) {
  auto prices = prices_of_sparse(machine);
  const auto pattern = generate_pattern("random:ranks=16,bytes=700,degree=6");
  std::vector<Strategy> strategies;
  for (const auto* text :
       {"standard", "standard,window=2", "two-step", "two-step-socket", "three-step", "stfw,n=2", "tuna,radix=3", "mpi",
        "standard@device", "two-step@device", "standard@staged", "two-step@staged"})
    if (auto strategy = parse_strategy(text); lacking(strategy, machine, CostModel::burst).empty())
      strategies.push_back(std::move(strategy));
  for (const auto& candidate : rank_strategies(pattern, layout, machine, CostModel::burst, strategies, 3))
    prices[to_string(candidate.strategy)] = ranked_seconds(candidate, 3);
  for (const auto& candidate : rank_one_shot({0.5, 0.5, 700}, layout, machine))
    prices["one-shot " + to_string(candidate.strategy)] = candidate.cost.seconds;
  return prices;
}

/// The pointer of a key of the documentation, in a locality and a protocol.
std::string pointer(std::string key, const char* locality) {
  const auto put = [&](const std::string& what, const std::string& by) {
    if (const auto place = key.find(what); place != std::string::npos) key.replace(place, what.size(), by);
  };
  put("*", locality);
  put("[]", ".0");
  std::ranges::replace(key, '.', '/');
  return "/" + key;
}

Json without(Json json, const std::string& key) {
  test::at_pointer(json, test::parent_of(key)).erase(test::last_of(key));
  return json;
}

Machine machine_of(const Json& json) { return parse_profile(json.dump(), "test").machine; }

/// By how much prices differ at most, relative; infinite if others are there.
double difference(const Prices& a, const Prices& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (const auto& [name, seconds] : a) {
    if (!b.contains(name)) return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(b.at(name) / seconds - 1));
  }
  return most;
}

/// What the documentation says that stands in.
struct StandIn {
  const char* in_row;                                             ///< in the row of the key
  std::function<void(Json& json, const std::string& key)> write;  ///< writes it out
  Prices (*prices)(const Machine&) = prices_of;                   ///< those that it is said to hold for
};

const std::map<std::string, StandIn>& stand_ins() {
  static constexpr double no_limit = 1e300;
  static const auto as = [](double value) {
    return [value](Json& json, const std::string& key) { test::put(json, key, value); };
  };
  static const auto sibling = [](const char* name) {
    return [name](Json& json, const std::string& key) {
      test::put(json, key, test::at_pointer(json, test::parent_of(key) + "/" + name));
    };
  };
  static const auto locality = [](const char* name) {
    return [name](Json& json, const std::string& key) { test::put(json, key, json.at("host").at(name)); };
  };
  static const auto section = [](const char* rate) {
    return [rate](Json& json, const std::string& key) { test::put(json, key, {{rate, no_limit}}); };
  };
  static const std::map<std::string, StandIn> all{
      {"host.socket", {"`host.node`", locality("node")}},
      {"host.node", {"`host.network`", locality("network")}},
      {"host.*.protocols[].alpha_next_s", {"`alpha_s`", sibling("alpha_s")}},
      {"host.*.protocols[].beta_next_s_per_byte", {"`beta_s_per_byte`", sibling("beta_s_per_byte")}},
      {"host.*.protocols[].alpha_receive_s", {"`alpha_next_s`", sibling("alpha_next_s"), prices_of_one_way}},
      {"host.*.protocols[].beta_receive_s_per_byte", {"`beta_s_per_byte`", sibling("beta_s_per_byte")}},
      {"host.*.gamma_s", {"| 0 |", as(0)}},
      {"host.*.rendezvous_from_bytes",
       {"in the first stage as 0", [](Json& json, const std::string& key) { test::put(json, key, 0); },
        prices_of_one_way}},
      {"host.*.aggregate_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"host.*.link_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"injection", {"no limit", section("rate_bytes_per_s")}},
      {"injection.rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"ejection", {"no limit", section("rate_bytes_per_s")}},
      {"ejection.rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"core", {"no limit", section("rate_bytes_per_s")}},
      {"core.rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"group", {"no limit", section("rate_bytes_per_s")}},
      {"group.rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"bus", {"no limit", section("rate_bytes_per_s")}},
      {"bus.rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"local", {"no limit", section("copy_rate_bytes_per_s")}},
      {"local.copy_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"local.copy_block_s", {"| 0 |", as(0)}},
      {"local.value_run_s", {"`local.copy_block_s`, but at most 2 ns", as(2e-9), prices_of_value_loops}},
      {"local.datatype_rate_bytes_per_s", {"copies", as(1)}},  // so slow that copies are cheaper
      {"local.datatype_block_s", {"copies", as(1)}},
      {"devices",
       {"each rank with data on devices has one of its own",
        [](Json& json, const std::string&) {
          json["devices"] = {{"per_node", layout.max_ppn()}};
        }}},
      {"devices.per_node",
       {"each rank with data on devices has one of its own",
        [](Json& json, const std::string& key) { test::put(json, key, layout.max_ppn()); }}},
      {"devices.copy_rate_bytes_per_s", {"of the fastest messages between devices", as(1e9)}},
      {"devices.copy_call_s", {"the least `alpha_s` of `copy.device_to_host`", as(1e-5)}},
      {"operations.allreduce_s",
       {"α·⌈log₂ P⌉",
        [](Json& json, const std::string& key) {
          constexpr int rounds = 4;  // of 16 ranks
          test::put(json, key, rounds * 2e-6);
          json["operations"]["ranks"] = layout.ranks();
        }}},
      {"operations.probe_s", {"`alpha_receive_s`", as(1e-7)}},
      {"operations.neighbor_alltoall_message_s", {"| 0 |", as(0)}},
      {"operations.alltoallv_message_s", {"| 0 |", as(0)}},
      {"operations.batch_s", {"| 0: messages alone take time |", as(0)}},
      {"operations.batch_once_s", {"| 0: messages alone take time |", as(0)}},
      {"operations.discovery_s", {"| 0: messages alone take time |", as(0)}},
      {"operations.new_send_bytes",
       {"none: all requests are persistent", [](Json& json, const std::string& key) { test::put(json, key, 1); }}},
      {"operations.ranks",
       {"on any number of ranks", [](Json& json, const std::string& key) { test::put(json, key, layout.ranks()); }}}};
  return all;
}

/// What is then not offered, and why.
struct NotOffered {
  const char* in_row;
  std::set<std::string> prices;  ///< names of prices_of that go
  std::string (*reason)(const Machine&);
  const char* in_reason;
};

const std::map<std::string, NotOffered>& not_offered() {
  static const std::map<std::string, NotOffered> all{
      {"operations.put_s",
       {"`direct+rma`",
        {"sparse direct+rma"},
        [](const Machine& m) { return lacking(parse_sparse_strategy("direct+rma"), m); },
        "no operations.put_s"}},
      {"operations.neighbor_alltoall_s",
       {"`mpi`",
        {"mpi"},
        [](const Machine& m) { return lacking(parse_strategy("mpi"), m, CostModel::burst); },
        "no operations.neighbor_alltoall_s"}},
      {"operations.alltoallv_s",
       {"`mpi`, for exchanges that are called once",
        {"one-shot mpi"},
        [](const Machine& m) {
          return test::error_of([&] { price_one_shot(parse_strategy("mpi"), {1, 1, 64}, layout, m); });
        },
        "no operations.alltoallv_s"}},
      {"device",
       {"what ends in `@device`",
        {"standard@device", "two-step@device"},
        [](const Machine& m) { return lacking(parse_strategy("standard@device"), m, CostModel::burst); },
        "no device"}},
      {"copy",
       {"what ends in `@staged`",
        {"standard@staged", "two-step@staged"},
        [](const Machine& m) { return lacking(parse_strategy("standard@staged"), m, CostModel::burst); },
        "no copy.device_to_host"}},
      {"copy.device_to_host",
       {"what forwards `@device`",
        {"standard@staged", "two-step@staged"},
        [](const Machine& m) { return lacking(parse_strategy("two-step@staged"), m, CostModel::burst); },
        "no copy.device_to_host"}},
      {"copy.host_to_device",
       {"what ends in `@staged`",
        {"standard@staged", "two-step@staged"},
        [](const Machine& m) { return lacking(parse_strategy("standard@staged"), m, CostModel::burst); },
        "no copy.host_to_device"}},
      {"operations",
       {"",
        {"sparse direct+rma", "mpi", "one-shot mpi"},
        [](const Machine& m) { return lacking(parse_sparse_strategy("direct+rma"), m); },
        "no operations.put_s"}},
      {"host.network",
       {"everything on several nodes",
        {},
        [](const Machine& m) { return test::error_of([&] { require_parameters(layout, m); }); },
        "no parameters for 'network'"}}};
  return all;
}

constexpr const char* unused = "no price uses it";

class ProfileKeys : public testing::Test {
 protected:
  const std::set<std::string> keys_ = keys_of_schema();
  const std::map<std::string, std::string> rows_ = rows_of_documentation();
};

TEST_F(ProfileKeys, AreAllDocumentedAndNoOthers) {
  EXPECT_GT(keys_.size(), 40U);
  std::set<std::string> known{"device.*"};
  for (auto key : keys_) {
    if (key.starts_with("!")) key.erase(0, 1);
    if (key.starts_with("copy.") && key.find("[]") != std::string::npos) key = "copy.*[]" + key.substr(key.rfind('.'));
    known.insert(key);
    EXPECT_TRUE(rows_.contains(key)) << key << " is not in the table of docs/profiles.md";
  }
  for (const auto& [key, row] : rows_) EXPECT_TRUE(known.contains(key)) << key << " is in the table, but in no profile";
}

TEST_F(ProfileKeys, ThatAreRequiredAreRefusedWhereTheyAreAbsent) {
  for (const auto& key : keys_) {
    if (!key.starts_with("!")) continue;
    const auto json = without(full_profile(), pointer(key.substr(1), "socket"));
    EXPECT_NE(test::error_of([&] { machine_of(json); }).find("is missing"), std::string::npos) << key;
  }
  EXPECT_NE(
      test::error_of([&] { machine_of(without(full_profile(), pointer("host.*.protocols[].max_bytes", "socket"))); }),
      "")
      << "of a protocol that is not the last";
}

/// All is known but what would hide a key: a core, or the links of a group, hide the NICs that could do more, a bus
/// what is within a node.
Json with_influence_of(const std::string& key) {
  auto json = full_profile();
  if (key.starts_with("injection")) json.erase("core");
  if (key.starts_with("injection") || key.starts_with("ejection")) json.erase("group");
  if (key == "host.*.aggregate_rate_bytes_per_s") json.erase("bus");
  return json;
}

TEST_F(ProfileKeys, ThatAreAbsentArePricedByTheirStandIns) {
  constexpr double rounding = 1e-8;
  for (const auto& [key, stand_in] : stand_ins()) {
    EXPECT_NE(rows_.at(key).find(stand_in.in_row), std::string::npos)
        << key << ": the table does not say " << stand_in.in_row;
    double matters = 0;
    const auto full = with_influence_of(key);
    for (const char* locality : {"socket", "node", "network"}) {
      SCOPED_TRACE(key + ", " + locality);
      const auto at = pointer(key, locality);
      auto written = full;
      stand_in.write(written, at);
      const auto absent = machine_of(without(full, at));
      EXPECT_LT(difference(stand_in.prices(machine_of(written)), stand_in.prices(absent)), rounding);
      matters = std::max(matters, difference(stand_in.prices(machine_of(full)), stand_in.prices(absent)));
    }
    if (key != "host.*.rendezvous_from_bytes") {  // which one stage does not show
      EXPECT_GT(matters, rounding) << key << " has no influence here, so that this says nothing";
    }
  }
}

TEST_F(ProfileKeys, OfRendezvousAreAsIfNoMessageWaitedInSparseExchanges) {
  for (const char* locality : {"socket", "node", "network"}) {
    const auto at = pointer("host.*.rendezvous_from_bytes", locality);
    auto never = full_profile();
    test::put(never, at, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(prices_of_sparse(machine_of(never)), prices_of_sparse(machine_of(without(full_profile(), at))));
  }
}

TEST_F(ProfileKeys, WithoutWhichAStrategyHasNoPriceLeaveItOut) {
  const auto all = prices_of(machine_of(full_profile()));
  for (const auto& [key, what] : not_offered()) {
    SCOPED_TRACE(key);
    EXPECT_NE(rows_.at(key).find(what.in_row), std::string::npos) << rows_.at(key);
    const auto machine = machine_of(without(full_profile(), pointer(key, "socket")));
    EXPECT_NE(what.reason(machine).find(what.in_reason), std::string::npos) << what.reason(machine);
    EXPECT_EQ(what.reason(machine_of(full_profile())), "");
    if (what.prices.empty()) continue;
    const auto prices = prices_of(machine);
    for (const auto& name : what.prices) {
      EXPECT_TRUE(all.contains(name)) << name;
      EXPECT_FALSE(prices.contains(name)) << name;
    }
    EXPECT_EQ(prices.size() + what.prices.size(), all.size());
  }
}

TEST_F(ProfileKeys, ThatNoPriceUsesChangeNone) {
  const auto all = prices_of(machine_of(full_profile()));
  for (const auto& [key, row] : rows_) {
    if (row.find(unused) == std::string::npos || key == "operations" || key.ends_with("*")) continue;
    EXPECT_EQ(prices_of(machine_of(without(full_profile(), pointer(key, "network")))), all) << key;
  }
}

TEST_F(ProfileKeys, AreAllTested) {
  for (const auto& key : keys_) {
    if (key.starts_with("!") || key == "host.*.protocols[].max_bytes") continue;
    EXPECT_TRUE(stand_ins().contains(key) || not_offered().contains(key) ||
                rows_.at(key).find(unused) != std::string::npos)
        << key;
  }
}

TEST(ProfileNote, SaysWhatIsMissingThatTheRankingUses) {
  const auto pattern = generate_pattern("random:ranks=16,bytes=700,degree=6");
  const auto note = [&](Json json, const std::vector<std::string>& absent, CostModel model = CostModel::burst,
                        const std::vector<Strategy>& strategies = {}) {
    for (const auto& key : absent) json = without(json, key);
    const auto machine = machine_of(json);
    return profile_note(machine, layout, model, rank_strategies(pattern, layout, machine, model, strategies));
  };
  auto deaf = full_profile();
  for (auto& [locality, channel] : deaf["host"].items())
    for (auto& protocol : channel["protocols"]) protocol.erase("alpha_receive_s");
  EXPECT_EQ(note(full_profile(), {}), "");
  EXPECT_EQ(note(full_profile(), {"/local"}), "profile full lacks local copies: forwarding looks cheaper than it is");
  EXPECT_EQ(note(full_profile(), {"/local/copy_rate_bytes_per_s"}), "") << "pieces have a price";
  EXPECT_EQ(note(deaf, {}), "profile full lacks receivers: forwarding looks cheaper than it is");
  EXPECT_EQ(note(deaf, {"/local"}),
            "profile full lacks local copies and receivers: forwarding looks cheaper than it is");
  EXPECT_EQ(note(deaf, {"/local"}, CostModel::postal), "") << "which knows neither";
  EXPECT_EQ(note(deaf, {"/local"}, CostModel::burst, {parse_strategy("standard")}), "") << "nothing is forwarded";
  EXPECT_EQ(note(full_profile(), {"/injection"}),
            "profile full lacks what a node injects: many bytes from several of its ranks look faster than they are");
  EXPECT_EQ(note(full_profile(), {"/host/socket"}),
            "profile full lacks host.socket: its messages are priced like those of host.node");
  EXPECT_EQ(note(full_profile(), {"/host/socket", "/host/node"}),
            "profile full lacks host.socket: its messages are priced like those of host.network; host.node: its "
            "messages are priced like those of host.network");
}

}  // namespace
}  // namespace commpass
