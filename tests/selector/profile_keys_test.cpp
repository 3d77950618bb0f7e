// Every parameter of a profile: the table says what its absence means, and prices do what it says.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <list>
#include <map>
#include <set>

#include "model/cost/plan_cost.hpp"
#include "model/cost/value_loops.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/sparse_choice.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {
namespace {

Machine make_full_machine() {
  auto machine =
      parse_profile(
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
                   "batch_s": 1e-7, "batch_once_s": 2e-7, "discovery_s": 2e-6, "new_send_bytes": 1000, "ranks": 4}})",
          "test")
          .machine;
  auto& group = machine.levels[standard_level::group];
  group.up_messages_per_s = group.down_messages_per_s = 1e6;
  group.messages_in_flight = 1;
  machine.operations.alltoallv_rank_s = 5e-8;
  machine.operations.skew_s = 3e-7;
  machine.reduction_rate_bytes_per_s = 4e9;
  return machine;
}

/// A machine of which everything is known, with 16 ranks.
const Machine& full_machine() {
  static const auto machine = make_full_machine();
  return machine;
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
Prices prices_of_sums(const Machine& machine) { return {{"sums", reduction_loop_seconds(machine, 100, 800)}}; }

/// All kinds of prices.
Prices all_prices(const Machine& machine) {
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

using Pricing = Prices (*)(const Machine&);

/// The prices of machines that recur are calculated once: that takes long under sanitizers.
const Prices& prices_of(const Machine& machine, Pricing pricing = all_prices) {
  static std::map<Pricing, std::list<std::pair<Machine, Prices>>> known;
  auto& entries = known[pricing];
  const auto found = std::ranges::find(entries, machine, &std::pair<Machine, Prices>::first);
  return found != entries.end() ? found->second : entries.emplace_back(machine, pricing(machine)).second;
}

/// Makes absent what matches a pattern.
Machine without(Machine machine, const std::string& pattern) {
  bool matches = false;
  for (const auto& each : named_parameters(machine))
    if (matches_parameter(pattern, each.name)) {
      each.set({});
      matches = true;
    }
  EXPECT_TRUE(matches) << pattern;
  return machine;
}

/// Stand-ins for absent channels and lists.
using Removal = std::function<void(Machine&)>;
Machine without(Machine machine, const Removal& remove) {
  remove(machine);
  return machine;
}

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

/// What the table says that stands in.
struct StandIn {
  const char* says;                                                         ///< part of its cell
  std::function<void(Machine& machine, const NamedParameter& each)> write;  ///< writes it out
  Pricing prices = all_prices;                                              ///< those that it is said to hold for
};

const std::map<std::string, StandIn>& stand_ins() {
  static constexpr double no_limit = 1e300;
  static const auto as = [](ParameterValue value) {
    return [value](Machine&, const NamedParameter& each) { each.set(value); };
  };
  static const auto sibling = [](const char* key) {
    return [key](Machine&, const NamedParameter& each) {
      each.set(parameter_named(each.parameter->place, key).access.get(each.owner));
    };
  };
  static const std::map<std::string, StandIn> all{
      {"levels.*.host.*.alpha_next_s", {"`alpha_s`", sibling("alpha_s")}},
      {"levels.*.host.*.beta_next_s_per_byte", {"`beta_s_per_byte`", sibling("beta_s_per_byte")}},
      {"levels.*.host.*.alpha_receive_s", {"`alpha_next_s`", sibling("alpha_next_s"), prices_of_one_way}},
      {"levels.*.host.*.beta_receive_s_per_byte", {"`beta_s_per_byte`", sibling("beta_s_per_byte")}},
      {"levels.*.host.gamma_s", {"0", as(0.0)}},
      {"levels.*.host.rendezvous_from_bytes", {"in the first stage as 0", as(std::int64_t{0}), prices_of_one_way}},
      {"levels.*.host.aggregate_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"levels.*.host.link_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"levels.*.up_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"levels.*.down_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"levels.*.inside_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"levels.*.node_share_bytes_per_s", {"no limit", as(no_limit)}},
      {"local.copy_rate_bytes_per_s", {"no limit", as(no_limit)}},
      {"local.copy_block_s", {"0", as(0.0)}},
      {"local.value_run_s", {"`local.copy_block_s`, but at most 2 ns", as(2e-9), prices_of_value_loops}},
      {"local.reduction_rate_bytes_per_s", {"`local.copy_rate_bytes_per_s`", as(5e9), prices_of_sums}},
      {"local.datatype_rate_bytes_per_s", {"copies", as(1.0)}},  // so slow that copies are cheaper
      {"local.datatype_block_s", {"copies", as(1.0)}},
      {"devices.per_node", {"each rank with data on devices has one of its own", as(std::int64_t{layout.max_ppn()})}},
      {"devices.copy_rate_bytes_per_s", {"of the fastest messages between devices", as(1e9)}},
      {"devices.copy_call_s", {"the least `alpha_s` of `copy.device_to_host`", as(1e-5)}},
      {"operations.allreduce_s",
       {"α·⌈log₂ P⌉",
        [](Machine& machine, const NamedParameter& each) {
          constexpr int rounds = 4;  // of 16 ranks
          each.set(rounds * 2e-6);
          const int further_ranks = layout.ranks() - *machine.operations.ranks;  // which MPI_Alltoallv visits
          *machine.operations.alltoallv_s += further_ranks * *machine.operations.alltoallv_rank_s;
          machine.operations.ranks = layout.ranks();
        }}},
      {"operations.probe_s", {"`alpha_receive_s`", as(1e-7)}},
      {"operations.neighbor_alltoall_message_s", {"0", as(0.0)}},
      {"operations.alltoallv_message_s", {"0", as(0.0)}},
      {"operations.alltoallv_rank_s", {"else 0", as(0.0)}},
      {"operations.batch_s", {"0: messages alone take time", as(0.0)}},
      {"operations.batch_once_s", {"0: messages alone take time", as(0.0)}},
      {"operations.discovery_s", {"0: messages alone take time", as(0.0)}},
      {"operations.skew_s", {"0 where a calibration", as(0.0)}},
      {"operations.new_send_bytes", {"none; without a verdict 256 within nodes under Open MPI", as(std::int64_t{1})}},
      {"operations.ranks", {"on any number of ranks", as(std::int64_t{layout.ranks()})}}};
  return all;
}

/// The strategies without a price where a parameter is absent, and the reason.
struct NotOffered {
  std::set<std::string> prices;  ///< names of prices_of that go
  std::string (*reason)(const Machine&);
  const char* in_reason;
};

const std::map<std::string, NotOffered>& not_offered() {
  static const std::map<std::string, NotOffered> all{
      {"operations.put_s",
       {{"sparse direct+rma"},
        [](const Machine& m) { return lacking(parse_sparse_strategy("direct+rma"), m); },
        "no operations.put_s"}},
      {"operations.neighbor_alltoall_s",
       {{"mpi"},
        [](const Machine& m) { return lacking(parse_strategy("mpi"), m, CostModel::burst); },
        "no operations.neighbor_alltoall_s"}},
      {"operations.alltoallv_s",
       {{"one-shot mpi"},
        [](const Machine& m) { return lacking(parse_strategy("mpi"), m, CostModel::burst, Usage::once); },
        "no operations.alltoallv_s"}}};
  return all;
}

struct NotOfferedWithout {
  Removal remove;
  NotOffered what;
};

const std::map<std::string, NotOfferedWithout>& not_offered_without() {
  static const std::map<std::string, NotOfferedWithout> all{
      {"device",
       {[](Machine& m) { m.device = {}; },
        {{"standard@device", "two-step@device"},
         [](const Machine& m) { return lacking(parse_strategy("standard@device"), m, CostModel::burst); },
         "no device"}}},
      {"copy.device_to_host",
       {[](Machine& m) { m.device_to_host.clear(); },
        {{"standard@staged", "two-step@staged"},
         [](const Machine& m) { return lacking(parse_strategy("two-step@staged"), m, CostModel::burst); },
         "no copy.device_to_host"}}},
      {"copy.host_to_device",
       {[](Machine& m) { m.host_to_device.clear(); },
        {{"standard@staged", "two-step@staged"},
         [](const Machine& m) { return lacking(parse_strategy("standard@staged"), m, CostModel::burst); },
         "no copy.host_to_device"}}},
      {"levels.network.host",
       {[](Machine& m) { m.host.by_level[standard_level::network].reset(); },
        {{},
         [](const Machine& m) { return test::error_of([&] { require_parameters(layout, m); }); },
         "no parameters for 'network'"}}}};
  return all;
}

constexpr const char* unused = "no price uses it";

TEST(Parameters, AreDocumentedByTheirTable) {
  EXPECT_NE(test::contents_of(COMMPASS_TEST_PROFILE_KEYS).find("\n" + markdown_of(parameter_table())),
            std::string::npos)
      << "put what 'commpass profile parameters --markdown' prints into docs/profiles.md";
}

/// All is known but what would hide a parameter: the core of the network and the links of a group hide the NICs that
/// could do more, the inside of a node the inside of a socket.
Machine with_influence_of(const std::string& name) {
  auto machine = full_machine();
  auto& levels = machine.levels;
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  if (name == "levels.node.up_rate_bytes_per_s") levels[standard_level::network].node_share_bytes_per_s = no_limit;
  if (name.starts_with("levels.node.up_") || name.starts_with("levels.node.down_"))
    levels[standard_level::group].up_rate_bytes_per_s = levels[standard_level::group].down_rate_bytes_per_s = no_limit;
  if (name.ends_with(".up_rate_bytes_per_s")) {
    levels[standard_level::group].down_rate_bytes_per_s = no_limit;
    levels[standard_level::node].down_rate_bytes_per_s = no_limit;
  }
  if (name.ends_with("host.aggregate_rate_bytes_per_s"))
    levels[standard_level::node].inside_rate_bytes_per_s = no_limit;
  return machine;
}

TEST(Parameters, ThatAreAbsentArePricedByTheirStandIns) {
  constexpr double rounding = 1e-8;
  for (const auto& row : machine_parameters()) {
    const auto pattern = pattern_of(row);
    const auto found = stand_ins().find(pattern);
    if (found == stand_ins().end()) continue;
    const auto& stand_in = found->second;
    EXPECT_NE(std::string(row.stand_in).find(stand_in.says), std::string::npos)
        << pattern << ": the table does not say " << stand_in.says;
    double matters = 0;
    auto all = full_machine();
    for (const auto& each : named_parameters(all)) {
      if (each.parameter != &row || each.name.find(".device.") != std::string::npos || is_absent(each.get())) continue;
      SCOPED_TRACE(each.name);
      const auto full = with_influence_of(each.name), absent = without(full, each.name);
      auto written = full;
      for (const auto& same : named_parameters(written))
        if (same.name == each.name) stand_in.write(written, same);
      const auto& as_absent = prices_of(absent, stand_in.prices);
      EXPECT_LT(difference(prices_of(written, stand_in.prices), as_absent), rounding);
      matters = std::max(matters, difference(prices_of(full, stand_in.prices), as_absent));
    }
    if (row.key != std::string("rendezvous_from_bytes")) {  // which one stage does not show
      EXPECT_GT(matters, rounding) << pattern << " has no influence here, so that this says nothing";
    }
  }
}

TEST(Channels, ThatAreAbsentArePricedAsTheNextOuterOne) {
  const std::pair<Level, Level> stand_ins_by_level[] = {{standard_level::socket, standard_level::node},
                                                        {standard_level::node, standard_level::network}};
  for (const auto& [level, outer] : stand_ins_by_level) {
    auto absent = full_machine(), written = full_machine();
    absent.host.by_level[level].reset();
    written.host.by_level[level] = written.host.by_level[outer];
    EXPECT_EQ(prices_of(absent), prices_of(written)) << standard_level::name(level);
    EXPECT_NE(prices_of(absent), prices_of(full_machine()));
  }
}

TEST(Parameters, OfRendezvousAreAsIfNoMessageWaitedInSparseExchanges) {
  for (const char* level : {"socket", "node", "network"}) {
    const auto name = fmt::format("levels.{}.host.rendezvous_from_bytes", level);
    auto never = full_machine();
    for (const auto& each : named_parameters(never))
      if (each.name == name) each.set(std::numeric_limits<std::int64_t>::max() - 1);
    EXPECT_EQ(prices_of_sparse(never), prices_of_sparse(without(full_machine(), name)));
  }
}

void expect_not_offered(const Machine& machine, const NotOffered& what) {
  const auto& all = prices_of(full_machine());
  EXPECT_NE(what.reason(machine).find(what.in_reason), std::string::npos) << what.reason(machine);
  EXPECT_EQ(what.reason(full_machine()), "");
  if (what.prices.empty()) return;
  const auto& prices = prices_of(machine);
  for (const auto& name : what.prices) {
    EXPECT_TRUE(all.contains(name)) << name;
    EXPECT_FALSE(prices.contains(name)) << name;
  }
  EXPECT_EQ(prices.size() + what.prices.size(), all.size());
}

TEST(Parameters, WithoutWhichAStrategyHasNoPriceLeaveItOut) {
  for (const auto& [name, what] : not_offered()) {
    SCOPED_TRACE(name);
    expect_not_offered(without(full_machine(), name), what);
  }
  for (const auto& [name, each] : not_offered_without()) {
    SCOPED_TRACE(name);
    expect_not_offered(without(full_machine(), each.remove), each.what);
  }
}

TEST(Parameters, ThatNoPriceUsesChangeNone) {
  const auto& all = prices_of(full_machine());
  for (const auto& row : machine_parameters())
    if (!row.is_required() && std::string(row.absence).find(unused) != std::string::npos) {
      EXPECT_EQ(prices_of(without(full_machine(), pattern_of(row))), all) << pattern_of(row);
    }
}

TEST(Parameters, AreAllTested) {
  for (const auto& row : machine_parameters()) {
    if (row.place == MachineParameter::Place::limits) continue;  // tests/selector/choose/limits_test.cpp
    const auto pattern = pattern_of(row);
    const bool is_last_one = row.key == std::string("max_bytes");
    EXPECT_TRUE(row.is_required() || is_last_one || stand_ins().contains(pattern) || not_offered().contains(pattern) ||
                std::string(row.absence).find(unused) != std::string::npos)
        << pattern;
    const bool has_no_stand_in = row.stand_in && row.stand_in == std::string_view("nothing");
    EXPECT_EQ(not_offered().contains(pattern), has_no_stand_in) << pattern;
  }
}

TEST(ProfileNote, NamesAbsentParametersThatTheRankingUses) {
  const auto pattern = generate_pattern("random:ranks=16,bytes=700,degree=6");
  const auto note = [&](const Machine& machine, CostModel model = CostModel::burst,
                        const std::vector<Strategy>& strategies = {}) {
    return profile_note(machine, layout, model, rank_strategies(pattern, layout, machine, model, strategies));
  };
  const auto full = full_machine(), copies = without(full, "local.copy_block_s"), no_copies = without(full, "local.*"),
             deaf = without(full, "levels.*.host.*.alpha_receive_s"), neither = without(deaf, "local.*");
  EXPECT_EQ(note(full), "");
  EXPECT_EQ(note(no_copies), "profile full lacks local copies: forwarding looks cheaper than it is");
  EXPECT_EQ(note(copies), "") << "bytes have a price";
  EXPECT_EQ(note(deaf), "profile full lacks receivers: forwarding looks cheaper than it is");
  EXPECT_EQ(note(neither), "profile full lacks local copies and receivers: forwarding looks cheaper than it is");
  EXPECT_EQ(note(neither, CostModel::postal), "") << "which knows neither";
  EXPECT_EQ(note(neither, CostModel::burst, {parse_strategy("standard")}), "") << "nothing is forwarded";
  EXPECT_EQ(note(without(full, "levels.node.up_rate_bytes_per_s")),
            "profile full lacks what a node injects: many bytes from several of its ranks look faster than they are");
  auto no_socket = full;
  no_socket.host.by_level[standard_level::socket].reset();
  EXPECT_EQ(note(no_socket),
            "profile full lacks levels.socket.host: its messages are priced like those of levels.node.host");
  no_socket.host.by_level[standard_level::node].reset();
  EXPECT_EQ(note(no_socket),
            "profile full lacks levels.socket.host: its messages are priced like those of levels.network.host; "
            "levels.node.host: its messages are priced like those of levels.network.host");
}

TEST(ProfileNote, TellsByHowMuchMoreItMayBeOffOnMoreNodesThanWereMeasured) {
  auto machine = full_machine();
  const auto note = [&](int nodes) {
    return profile_note(machine, Layout::with_ppn(4 * nodes, 4), CostModel::burst, {});
  };
  EXPECT_EQ(note(64), "") << "it does not tell how many were measured";
  machine.nodes_measured = 2;
  EXPECT_EQ(note(2), "");
  EXPECT_EQ(note(8), "profile full was measured on 2 nodes, and here are 8: prices may be off by 30 % more");
  machine.copy_block_s.reset();
  machine.copy_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  machine.stand_ins = {"copies"};
  EXPECT_EQ(note(3),
            "profile full lacks copies; it was measured on 2 nodes, and here are 3: prices may be off by 9 % more");
}

TEST(ProfileNote, NamesOnceTheStandInsForLevelsThatAreAbsentOrElsewhere) {
  Machine machine;
  machine.name = "levels";
  machine.levels.clear();
  for (const char* name : {"numa", "cache", "node", "pod", "rack", "network"}) machine.levels.push_back({.name = name});
  const auto order = [&](const char* text) { return level_order_note(machine, parse_layout(text)); };
  EXPECT_EQ(order("rack=2,pod=2,node=2,cache=2,numa=2,core=1"), "");
  EXPECT_EQ(order("island=2,node=2,socket=2,core=1"), "") << "absent, not elsewhere";
  EXPECT_EQ(order("node=2,numa=2,cache=2,core=1"),
            "profile levels lacks level cache within numa: messages within one are priced like those of levels.numa");
  EXPECT_EQ(order("pod=2,rack=2,node=2,core=1"),
            "profile levels lacks level pod outside rack: messages within one are priced like those of levels.network");
  EXPECT_EQ(order("numa=2,node=2,core=1"),
            "profile levels lacks level numa outside node: messages within one are priced like those of "
            "levels.network");
  machine.copy_block_s = 0;
  const auto note = [&](const char* text) {
    machine.host.by_level[machine.outermost()] = Channel{{Protocol{"any", test::no_limit, 1e-6, 0, 1e-6}}};
    for (Level level = 0; level < machine.outermost(); ++level)
      machine.host.by_level[level] = machine.host.by_level[machine.outermost()];
    return profile_note(machine, parse_layout(text), CostModel::burst, {});
  };
  EXPECT_EQ(note("island=2,node=2,numa=2,cache=2,core=1"),
            "profile levels lacks what a node injects: many bytes from several of its ranks look faster than they are; "
            "level island: messages within one are priced like those of levels.network; "
            "level cache within numa: messages within one are priced like those of levels.numa");
}

}  // namespace
}  // namespace commpass
