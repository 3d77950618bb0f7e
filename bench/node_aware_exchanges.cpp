#include "bench/node_aware_exchanges.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "model/pattern/matrix_file.hpp"
#include "model/pattern/matrix_pattern.hpp"
#include "selector/choose/select.hpp"

namespace commpass::node_aware {

namespace {

constexpr int sockets = 2, parts_of_a_device = 4;

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

/// The rank of a device among all processes: those of a device lie side by side, and it is the first of them.
Rank process_of(Rank device, const Node& node) { return device * (node.processes() / node.devices()); }

}  // namespace

Layout Exchange::layout(Ranks ranks) const {
  return Layout::regular(pattern.ranks / node.devices(), sockets,
                         ranks == Ranks::devices ? node.devices_per_socket : node.processes_per_socket);
}

Pattern Exchange::among(Ranks ranks) const {
  if (ranks == Ranks::devices) return pattern;
  const int parts = ranks == Ranks::spread ? parts_of_a_device : 1;
  Pattern result{pattern.ranks / node.devices() * node.processes(), {}};
  for (const auto& edge : pattern.edges)
    for (int part = 0; part < parts; ++part) {
      const auto from = process_of(edge.source, node) + part, to = process_of(edge.destination, node) + part;
      result.edges.push_back({from, to, edge.bytes * (part + 1) / parts - edge.bytes * part / parts});
    }
  return result;
}

Exchange scattered(int messages, int nodes, Bytes bytes, const Node& node) {
  Exchange exchange{{(nodes + 1) * node.devices(), {}}, node};
  const int each = messages / node.devices();
  for (int device = 0; device < node.devices(); ++device)
    for (int i = 0; i < each; ++i) {
      const int to_node = 1 + (device * each + i) % nodes, to_device = (i / nodes + device) % node.devices();
      exchange.pattern.edges.push_back({device, to_node * node.devices() + to_device, bytes});
    }
  std::ranges::stable_sort(exchange.pattern.edges, {},
                           [](const Edge& e) { return std::pair(e.source, e.destination); });
  return exchange;
}

Exchange matrix_product(const std::string& matrix_file, int devices, const Node& node) {
  constexpr Bytes value_bytes = 8;
  const auto matrix = read_matrix(matrix_file);
  return {matrix_pattern(matrix, block_partition(matrix.rows, devices), devices, value_bytes, matrix_file), node};
}

Sent sent_in(const Exchange& exchange) {
  const auto layout = exchange.layout(Ranks::devices);
  std::vector<double> by_process(at_index(layout.ranks())), messages(by_process), by_node(at_index(layout.nodes()));
  std::vector<std::set<int>> nodes_of_process(by_process.size()), nodes_of_node(by_node.size());
  std::map<std::pair<int, int>, double> between;
  for (const auto& edge : exchange.pattern.edges) {
    const int from = layout.node(edge.source), to = layout.node(edge.destination);
    if (from == to) continue;
    const auto bytes = static_cast<double>(edge.bytes);
    by_process[at_index(edge.source)] += bytes;
    messages[at_index(edge.source)] += 1;
    by_node[at_index(from)] += bytes;
    between[{from, to}] += bytes;
    nodes_of_process[at_index(edge.source)].insert(to);
    nodes_of_node[at_index(from)].insert(to);
  }
  const auto most = [](const auto& sets) {
    return static_cast<double>(std::ranges::max(sets, {}, &std::set<int>::size).size());
  };
  Sent sent;
  sent.load.process_bytes = std::ranges::max(by_process);
  sent.load.node_bytes = std::ranges::max(by_node);
  for (const auto& [pair, bytes] : between)
    sent.load.node_to_node_bytes = std::max(sent.load.node_to_node_bytes, bytes);
  sent.messages = std::ranges::max(messages);
  sent.nodes_of_process = most(nodes_of_process);
  sent.nodes = most(nodes_of_node);
  return sent;
}

Cost price_exactly(const std::string& strategy, Ranks ranks, const Exchange& exchange, const Machine& machine,
                   CostModel model) {
  return price(parse_strategy(strategy), exchange.among(ranks), exchange.layout(ranks), machine, model).cost;
}

}  // namespace commpass::node_aware
