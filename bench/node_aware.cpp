// What the formulas of the node-aware paper say of the exchanges of its figures 4.2 and 4.3, beside the same strategies
// priced with the on-node phases that they really have: under max-rate, the paper's model, and under burst.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bench/node_aware_exchanges.hpp"
#include "bench/options.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_lookup.hpp"

namespace commpass::bench {
namespace {

using namespace node_aware;

const Node node;

/// A pair of a node and another one is served by one device, so with more nodes than devices each device serves
/// several.
double nodes_of_a_device(const Sent& sent) { return std::ceil(sent.nodes / node.devices()); }

Load with_messages(const Sent& sent, double messages) {
  auto load = sent.load;
  load.messages = messages;
  return load;
}

/// The size at which rendezvous begins between nodes, at which split cuts; infinite where there is one protocol.
double split_cap(const Machine& machine) {
  const auto& protocols = machine.host.find(standard_level::network)->protocols;
  return protocols.size() > 1 ? static_cast<double>(protocols[protocols.size() - 2].max_bytes) + 1
                              : std::numeric_limits<double>::infinity();
}

/// Messages of a process under split (the paper's algorithm 1): the bytes for a node are cut at the size where
/// rendezvous begins, or, if that gave more messages than processes, into one a process; all processes of the node
/// share them.
double split_messages(const Sent& sent, const Machine& machine) {
  const double cap = split_cap(machine), all = sent.load.node_bytes, to_one = sent.load.node_to_node_bytes;
  double messages = sent.nodes;
  if (to_one >= cap) {
    const bool too_many = all / cap > node.processes() && sent.nodes < node.processes();
    messages = sent.nodes * std::ceil(to_one / (too_many ? std::ceil(all / node.processes()) : cap));
  }
  return std::ceil(messages / node.processes());
}

using Formula = Seconds (*)(const Sent& sent, const Machine& machine);

template <Path path>
Seconds standard_seconds(const Sent& sent, const Machine& machine) {
  return standard(with_messages(sent, sent.messages), machine, path);
}

/// With the copies that table 6 leaves out and the paper's figure must have: without them the device-aware standard
/// never wins.
Seconds standard_with_copies(const Sent& sent, const Machine& machine) {
  return standard_seconds<Path::staged>(sent, machine) +
         copies(sent.load.process_bytes, sent.load.process_bytes, 1, machine);
}

template <Path path>
Seconds three_step_seconds(const Sent& sent, const Machine& machine) {
  return three_step(with_messages(sent, nodes_of_a_device(sent)), node, machine, path);
}

template <Path path>
Seconds two_step_seconds(const Sent& sent, const Machine& machine) {
  return two_step(with_messages(sent, sent.nodes_of_process), node, machine, path);
}

/// All messages to a node come from one device: the paper's 2-Step 1.
template <Path path>
Seconds two_step_one_seconds(const Sent& sent, const Machine& machine) {
  return two_step(with_messages(sent, nodes_of_a_device(sent)), node, machine, path);
}

template <int processes_per_device, SplitReading reading>
Seconds split_seconds(const Sent& sent, const Machine& machine) {
  return split(with_messages(sent, split_messages(sent, machine)), processes_per_device, reading, node, machine);
}

struct Strategy {
  const char* name;
  Formula formula;         ///< null: the paper has none
  std::string strategy{};  ///< of Commpass, "{}" is the cap of split; empty: what the formula is about is no strategy
  Ranks ranks = Ranks::devices;
  bool ranked = true;  ///< by formulas; not so the paper's best case, nor variants without copies
};

const Strategy strategies[] = {
    {"standard", standard_with_copies, "standard,staggered@staged"},
    {"standard,bare", standard_seconds<Path::staged>, {}, {}, false},
    {"3-step", three_step_seconds<Path::staged>, "three-step@staged"},
    {"2-step", two_step_seconds<Path::staged>, "two-step@staged"},
    {"2-step-1", two_step_one_seconds<Path::staged>, {}, {}, false},
    {"split+MD", split_seconds<1, SplitReading::parts>, "split,cap={}@staged", Ranks::helpers},
    {"split+DD", split_seconds<4, SplitReading::parts>, "split,cap={}@staged", Ranks::spread},
    {"split+MD,whole", split_seconds<1, SplitReading::whole>},
    {"split+DD,whole", split_seconds<4, SplitReading::whole>},
    {"split,copies=4", nullptr, "split,cap={}@staged,copies=4", Ranks::helpers},
    {"standard@dev", standard_seconds<Path::device>, "standard,staggered@device"},
    {"3-step@dev", three_step_seconds<Path::device>, "three-step@device"},
    {"2-step@dev", two_step_seconds<Path::device>, "two-step@device"},
    {"2-step-1@dev", two_step_one_seconds<Path::device>, {}, {}, false}};

const char* const notes =
    "Three prices of each strategy of the node-aware paper. formula: table 6, with worst cases within nodes. exact: "
    "the "
    "messages\n"
    "that there are, by the paper's model (max-rate). burst: the same by the model of Commpass, receivers and what "
    "ranks "
    "wait\n"
    "for among it. *: the least. Not in the order: 2-step-1, the best case of 2-step, and standard,bare, which is "
    "table "
    "6 to\n"
    "the letter: without the copies to and from the host. @dev: device-aware; all others are staged through the host.\n"
    "split: on-node messages have the part of one process; whole: all that the node sends, as table 6 reads to the "
    "letter.\n"
    "split+DD: four processes of each device have a quarter of its data; copies=4: they copy into one buffer.\n";

constexpr std::array views{"formula", "exact", "burst"};
using Prices = std::array<std::optional<Seconds>, views.size()>;

Prices prices_of(const Strategy& strategy, const Exchange& exchange, const Sent& sent, const Machine& machine) {
  Prices prices;
  if (strategy.formula) prices[0] = strategy.formula(sent, machine);
  if (strategy.strategy.empty()) return prices;
  const double cap = split_cap(machine);
  constexpr double no_cap = 1 << 30;
  const auto text = fmt::format(fmt::runtime(strategy.strategy), static_cast<Bytes>(std::min(cap, no_cap)));
  prices[1] = price_exactly(text, strategy.ranks, exchange, machine, CostModel::max_rate).seconds;
  prices[2] = price_exactly(text, strategy.ranks, exchange, machine, CostModel::burst).seconds;
  return prices;
}

/// The prices of all strategies for one exchange.
struct Column {
  std::string name;
  std::vector<Prices> prices;  ///< by strategy

  /// The numbers of strategies from the cheapest to the most expensive.
  std::vector<std::size_t> order(std::size_t view) const {
    std::vector<std::size_t> result;
    for (std::size_t s = 0; s < prices.size(); ++s)
      if (prices[s][view] && (view > 0 || strategies[s].ranked)) result.push_back(s);
    std::ranges::stable_sort(result, {}, [&](std::size_t s) { return *prices[s][view]; });
    return result;
  }
};

Column column(std::string name, const Exchange& exchange, const Machine& machine) {
  Column result{std::move(name), {}};
  const auto sent = sent_in(exchange);
  for (const auto& strategy : strategies) result.prices.push_back(prices_of(strategy, exchange, sent, machine));
  return result;
}

struct Table {
  std::string title;
  std::vector<Column> columns;
};

void print(const Table& table) {
  fmt::print("\n{}\n", table.title);
  for (std::size_t v = 0; v < views.size(); ++v) {
    fmt::print("  {:<16}", views[v]);
    for (const auto& each : table.columns) fmt::print("{:>12}", each.name);
    fmt::print("\n");
    for (std::size_t s = 0; s < std::size(strategies); ++s) {
      if (!table.columns.front().prices[s][v]) continue;
      fmt::print("  {:<16}", strategies[s].name);
      for (const auto& each : table.columns)
        fmt::print("{:>12}",
                   fmt::format("{}{}", each.order(v).front() == s ? "*" : "", format_seconds(*each.prices[s][v])));
      fmt::print("\n");
    }
  }
  for (const auto& each : table.columns)
    for (std::size_t v = 0; v < views.size(); ++v) {
      fmt::print("  {:>10} {:<8}", v == 0 ? each.name : "", views[v]);
      const auto order = each.order(v);
      for (const auto s : order) fmt::print("{}{}", s == order.front() ? " " : " < ", strategies[s].name);
      fmt::print("\n");
    }
}

void add_json(const Table& table, Json& cases) {
  for (const auto& each : table.columns) {
    Json json{{"exchange", table.title}, {"column", each.name}};
    for (std::size_t v = 0; v < views.size(); ++v) {
      for (std::size_t s = 0; s < std::size(strategies); ++s)
        if (each.prices[s][v]) json[views[v]]["seconds"][strategies[s].name] = *each.prices[s][v];
      for (const auto s : each.order(v)) json[views[v]]["order"].push_back(strategies[s].name);
    }
    cases.push_back(std::move(json));
  }
}

/// Figure 4.3.
Table scattered_table(int messages, int nodes, const Machine& machine) {
  Table table{fmt::format("{} messages to {} nodes, bytes a message", messages, nodes), {}};
  for (const Bytes bytes : {10, 100, 1000, 10000, 100000, 1000000})
    table.columns.push_back(column(fmt::format("{} B", bytes), scattered(messages, nodes, bytes, node), machine));
  return table;
}

/// Figure 4.2, with a matrix of ours.
Table matrix_table(const std::string& name, const Machine& machine) {
  Table table{fmt::format("values for a product with the matrix {}, devices", name), {}};
  for (const int devices : {40, 80, 160, 320})
    table.columns.push_back(
        column(std::to_string(devices),
               matrix_product(fmt::format("{}/{}.mtx.gz", COMMPASS_EXAMPLE_MATRICES, name), devices, node), machine));
  return table;
}

Json report(const Machine& machine, const OutputOptions& options) {
  std::vector<Table> tables;
  for (const auto& [messages, nodes] : {std::pair{32, 4}, {256, 4}, {32, 16}, {256, 16}})
    tables.push_back(scattered_table(messages, nodes, machine));
  if (!options.quick)
    for (const auto* name : {"copter2", "debian12-deps"}) tables.push_back(matrix_table(name, machine));
  Json json{{"schema_version", 1}, {"context", {{"profile", machine.name}}}};
  for (const auto& table : tables) add_json(table, json["cases"]);
  int same = 0;
  for (const auto& each : json["cases"]) same += each["formula"]["order"][0] == each["burst"]["order"][0];
  json["summary"] = {{"cases", json["cases"].size()}, {"formula_and_burst_agree", same}};
  if (options.json) return json;
  fmt::print("profile: {}\n{}", machine.name, notes);
  for (const auto& table : tables) print(table);
  fmt::print("\nformula and burst name the same cheapest strategy in {} of {} cases\n", same, json["cases"].size());
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  commpass::Command command{
      "bench-node-aware",
      "What the formulas of the node-aware paper say of its figures 4.2 and 4.3, beside exact on-node phases"};
  std::string profile = "lassen";
  command.add({{"--profile", &profile, "machine profile with device parameters: NAME or file"}});
  OutputOptions options;
  return run_benchmark(command, argc, argv, "node-aware", options, [&] {
    return report(commpass::read_profile(commpass::find_profile(profile, commpass::profile_directories())).machine,
                  options);
  });
}
