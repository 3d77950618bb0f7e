#include "model/pattern/sparse_traffic.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/power.hpp"

namespace commpass {

SparseTraffic traffic_of(Rank rank, std::span<const Rank> destinations, std::span<const Bytes> bytes,
                         const Layout& layout) {
  SparseTraffic own;
  std::vector<std::pair<int, Bytes>> to_nodes;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i] == rank) continue;
    ++own.messages;
    own.bytes += bytes[i];
    if (const int node = layout.node(destinations[i]); node != layout.node(rank)) to_nodes.emplace_back(node, bytes[i]);
  }
  own.network_messages = std::ssize(to_nodes);
  std::ranges::sort(to_nodes);
  Bytes to_node = 0;
  for (std::size_t i = 0; i < to_nodes.size(); ++i) {
    const bool is_another = i == 0 || to_nodes[i].first != to_nodes[i - 1].first;
    own.nodes_reached += is_another;
    to_node = (is_another ? 0 : to_node) + to_nodes[i].second;
    own.node_bytes_max = std::max(own.node_bytes_max, to_node);
  }
  own.messages_max = own.messages;
  own.bytes_max = own.bytes;
  own.network_messages_max = own.network_messages;
  own.nodes_reached_max = own.nodes_reached;
  return own;
}

SparseTraffic traffic_of(const Pattern& pattern, const Layout& layout) {
  const auto ranks = static_cast<std::size_t>(pattern.ranks);
  std::vector<std::vector<Rank>> destinations(ranks);
  std::vector<std::vector<Bytes>> sizes(ranks);
  std::vector<std::int64_t> received(ranks), received_bytes(ranks);
  for (const auto& edge : pattern.edges) {
    destinations[static_cast<std::size_t>(edge.source)].push_back(edge.destination);
    sizes[static_cast<std::size_t>(edge.source)].push_back(edge.bytes);
    if (edge.source == edge.destination) continue;
    ++received[static_cast<std::size_t>(edge.destination)];
    received_bytes[static_cast<std::size_t>(edge.destination)] += edge.bytes;
  }
  SparseTraffic all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto own = traffic_of(static_cast<Rank>(rank), destinations[rank], sizes[rank], layout);
    all.messages += own.messages;
    all.bytes += own.bytes;
    all.network_messages += own.network_messages;
    all.nodes_reached += own.nodes_reached;
    all.messages_max = std::max(all.messages_max, own.messages_max);
    all.bytes_max = std::max(all.bytes_max, own.bytes_max);
    all.network_messages_max = std::max(all.network_messages_max, own.network_messages_max);
    all.nodes_reached_max = std::max(all.nodes_reached_max, own.nodes_reached_max);
    all.node_bytes_max = std::max(all.node_bytes_max, own.node_bytes_max);
    all.received_messages_max = std::max(all.received_messages_max, received[rank]);
    all.received_bytes_max = std::max(all.received_bytes_max, received_bytes[rank]);
  }
  return all;
}

SparseTraffic traffic_of_alltoall(Bytes bytes, const Layout& layout) {
  const std::int64_t ranks = layout.ranks();
  std::int64_t nodes = 0;
  SparseTraffic all;
  std::int64_t largest = 0, second = 0;  // of the nodes' numbers of ranks
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto on_node = static_cast<std::int64_t>(layout.ranks_of(node).size());
    const auto others = ranks - on_node;
    if (on_node == 0) continue;
    ++nodes;
    all.network_messages += on_node * others;
    all.network_messages_max = std::max(all.network_messages_max, others);
    second = std::max(second, std::min(largest, on_node));
    largest = std::max(largest, on_node);
  }
  all.messages = ranks * (ranks - 1);
  all.bytes = all.messages * bytes;
  all.nodes_reached = ranks * (nodes - 1);
  all.messages_max = all.received_messages_max = ranks - 1;
  all.bytes_max = all.received_bytes_max = (ranks - 1) * bytes;
  all.nodes_reached_max = nodes - 1;
  all.node_bytes_max = (second > 0 ? largest : 0) * bytes;
  return all;
}

SparseTraffic expected_traffic(double messages, double bytes, const Layout& layout) {
  const double ranks = layout.ranks(), others = std::max(1.0, ranks - 1);
  const double sent = std::clamp(messages, 0.0, others);
  const double to_network = sent * (ranks - layout.max_ppn()) / others;
  const double nodes = layout.nodes() - 1,
               missed = nodes > 0 ? power(1 - 1 / nodes, static_cast<std::int64_t>(to_network)) : 0;
  const auto whole = [](double value) { return static_cast<std::int64_t>(value + 0.5); };
  SparseTraffic all;
  all.messages_max = all.received_messages_max = whole(sent);
  all.bytes_max = all.received_bytes_max = whole(sent * bytes);
  all.network_messages_max = whole(to_network);
  all.nodes_reached_max = whole(nodes * (1 - missed));
  all.messages = all.messages_max * layout.ranks();
  all.bytes = all.bytes_max * layout.ranks();
  all.network_messages = all.network_messages_max * layout.ranks();
  all.nodes_reached = all.nodes_reached_max * layout.ranks();
  return all;
}

}  // namespace commpass
