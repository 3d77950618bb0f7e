// What the formulas of the node-aware paper say, to be laid beside its figure 4.3: the time of each strategy when a
// node sends 32 or 256 messages to 4 or 16 nodes. Formulas only; nothing is simulated.
#include "bench/node_aware_formulas.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/options.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/text.hpp"

namespace commpass::bench {
namespace {

using namespace node_aware;
using Json = nlohmann::ordered_json;

/// The paper's: a node sends `messages` of `bytes` each, the same number from every device, to `nodes` nodes, to each
/// as many.
struct Scenario {
  int messages, nodes;
  double bytes;
};

const Node node;

/// A pair of a node and another one is served by one device, so with more nodes than devices each device serves
/// several.
double nodes_of_a_device(const Scenario& s) { return std::ceil(static_cast<double>(s.nodes) / node.devices()); }

/// Table 7, with as many messages of a process as the strategy leaves.
Load load_of(const Scenario& s, double messages) {
  const double all = s.messages * s.bytes;
  return {all / node.devices(), all, all / s.nodes, messages};
}

/// Messages of a process under split (the paper's algorithm 1): what goes to a node is cut at the size where rendezvous
/// begins, or, if that gave more messages than processes, into one a process; all processes of the node share them.
double split_messages(const Scenario& s, const Machine& machine) {
  const auto& protocols = machine.host.find(Locality::network)->protocols;
  const double cap = protocols.size() > 1 ? static_cast<double>(protocols[protocols.size() - 2].max_bytes) + 1
                                          : std::numeric_limits<double>::infinity();
  const double all = s.messages * s.bytes, to_one = all / s.nodes;
  double messages = s.nodes;
  if (to_one >= cap) {
    const bool too_many = all / cap > node.processes() && s.nodes < node.processes();
    messages = s.nodes * std::ceil(to_one / (too_many ? std::ceil(all / node.processes()) : cap));
  }
  return std::ceil(messages / node.processes());
}

struct Strategy {
  const char* name;
  bool ranked;  ///< among those whose order is told; not so the paper's best case, nor what leaves the copies out
  Seconds (*seconds)(const Scenario& scenario, const Machine& machine);
};

Load standard_load(const Scenario& s) { return load_of(s, static_cast<double>(s.messages) / node.devices()); }

template <Path path>
Seconds standard_seconds(const Scenario& s, const Machine& machine) {
  return standard(standard_load(s), machine, path);
}

/// With the copies that table 6 leaves out and the paper's figure must have: without them the device-aware standard
/// never wins.
Seconds standard_with_copies(const Scenario& s, const Machine& machine) {
  const auto load = standard_load(s);
  return standard(load, machine, Path::staged) + copies(load.process_bytes, load.process_bytes, 1, machine);
}

template <Path path>
Seconds three_step_seconds(const Scenario& s, const Machine& machine) {
  return three_step(load_of(s, nodes_of_a_device(s)), node, machine, path);
}

template <Path path>
Seconds two_step_seconds(const Scenario& s, const Machine& machine) {
  return two_step(load_of(s, s.nodes), node, machine, path);
}

/// All messages to a node come from one device: the paper's 2-Step 1.
template <Path path>
Seconds two_step_one_seconds(const Scenario& s, const Machine& machine) {
  return two_step(load_of(s, nodes_of_a_device(s)), node, machine, path);
}

template <int processes_per_device, SplitReading reading>
Seconds split_seconds(const Scenario& s, const Machine& machine) {
  return split(load_of(s, split_messages(s, machine)), processes_per_device, reading, node, machine);
}

const Strategy strategies[] = {{"standard", true, standard_with_copies},
                               {"standard,bare", false, standard_seconds<Path::staged>},
                               {"3-step", true, three_step_seconds<Path::staged>},
                               {"2-step", true, two_step_seconds<Path::staged>},
                               {"2-step-1", false, two_step_one_seconds<Path::staged>},
                               {"split+MD", true, split_seconds<1, SplitReading::parts>},
                               {"split+DD", true, split_seconds<4, SplitReading::parts>},
                               {"split+MD,whole", true, split_seconds<1, SplitReading::whole>},
                               {"split+DD,whole", true, split_seconds<4, SplitReading::whole>},
                               {"standard@dev", true, standard_seconds<Path::device>},
                               {"3-step@dev", true, three_step_seconds<Path::device>},
                               {"2-step@dev", true, two_step_seconds<Path::device>},
                               {"2-step-1@dev", false, two_step_one_seconds<Path::device>}};

const char* const notes =
    "Formulas of the node-aware paper, table 6. *: the least. Not in the order: 2-step-1, the best case of 2-step, "
    "and\n"
    "standard,bare, which is table 6 to the letter: without the copies to and from the host.\n"
    "@dev: device-aware; all others are staged through the host.\n"
    "split: on-node messages have the part of one process; whole: all that the node sends, as table 6 reads to the "
    "letter.\n";

/// The ranked strategies from the cheapest to the dearest.
std::vector<std::pair<Seconds, const Strategy*>> order_of(const Scenario& scenario, const Machine& machine) {
  std::vector<std::pair<Seconds, const Strategy*>> order;
  for (const auto& strategy : strategies)
    if (strategy.ranked) order.emplace_back(strategy.seconds(scenario, machine), &strategy);
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });
  return order;
}

constexpr double sizes[] = {1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

void print_case(int messages, int nodes, const Machine& machine) {
  fmt::print("\n{} messages to {} nodes\n  {:<16}", messages, nodes, "bytes a message");
  for (const double bytes : sizes) fmt::print("{:>12.0f}", bytes);
  fmt::print("\n");
  for (const auto& strategy : strategies) {
    fmt::print("  {:<16}", strategy.name);
    for (const double bytes : sizes) {
      const Scenario scenario{messages, nodes, bytes};
      const bool least = order_of(scenario, machine).front().second == &strategy;
      fmt::print("{:>12}", fmt::format("{}{}", least ? "*" : "", format_seconds(strategy.seconds(scenario, machine))));
    }
    fmt::print("\n");
  }
  for (const double bytes : sizes) {
    fmt::print("  {:>7.0f} B:", bytes);
    const auto order = order_of({messages, nodes, bytes}, machine);
    for (const auto& [seconds, strategy] : order)
      fmt::print("{}{}", strategy == order.front().second ? " " : " < ", strategy->name);
    fmt::print("\n");
  }
}

Json json_case(const Scenario& scenario, const Machine& machine) {
  Json json{{"messages", scenario.messages}, {"nodes", scenario.nodes}, {"bytes", scenario.bytes}};
  for (const auto& strategy : strategies) json["seconds"][strategy.name] = strategy.seconds(scenario, machine);
  for (const auto& [seconds, strategy] : order_of(scenario, machine)) json["order"].push_back(strategy->name);
  return json;
}

constexpr std::pair<int, int> messages_to_nodes[] = {{32, 4}, {256, 4}, {32, 16}, {256, 16}};

Json report(const Machine& machine, bool as_json) {
  // All is worked out before anything is printed: the profile may lack something.
  Json json{{"schema_version", 1}, {"context", {{"profile", machine.name}}}};
  for (const auto& [messages, nodes] : messages_to_nodes)
    for (const double bytes : sizes) json["cases"].push_back(json_case({messages, nodes, bytes}, machine));
  json["summary"] = {{"cases", json["cases"].size()}};
  if (as_json) return json;
  fmt::print("profile: {}\n{}", machine.name, notes);
  for (const auto& [messages, nodes] : messages_to_nodes) print_case(messages, nodes, machine);
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  CLI::App app{"What the formulas of the node-aware paper say for its figure 4.3"};
  std::string profile = "lassen";
  app.add_option("--profile", profile, "machine profile with device parameters: NAME or file");
  OutputOptions options;
  return run_benchmark(app, argc, argv, "node-aware", options, [&] {
    return report(commpass::read_profile(commpass::find_profile(profile, commpass::profile_directories())).machine,
                  options.json);
  });
}
