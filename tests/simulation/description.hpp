// The description of a simulated cluster (tests/clusters/*.json): the truth that a calibration has to find.
//
// A lone message of s bytes between two ranks takes exactly alpha_s + beta_s_per_byte·s of its locality and protocol.
// Of that, send_overhead_s is the sender's own time, during which it can do nothing else, and receive_overhead_s the
// receiver's. Bytes flow at the rate of the locality's fastest protocol; what a slower protocol takes longer is time of
// the sender (it copies). All ranks of a node share its NIC, out of the node and, where there is a limit, into it. All
// nodes share the core of the network, where it has a limit: so much for each node. Where there are leaf switches, the
// nodes of each share its way to the others, and the way back. A bus, where there is one, moves all
// messages within its node. A local copy costs copy_block_s for each contiguous piece, and copy_call_s for all that are
// made at once. A loop over small values costs value_run_s for each run of them, and their bytes as any copy, or, where
// they are added to others, at reduction_rate_bytes_per_s.
// receive_queue bounds the messages of other nodes that are on their way to a rank, or wait until its processor has
// taken them (receive_overhead_s each, one after another). The network drops a message that finds the queue full; it
// arrives retransmission_s later.
// shares_memory: the ranks of a node do. Each end of a message through it copies the message, which takes push_s more.
//
// Devices, where there are any: a copy between one and host memory takes copy_alpha_s, and then moves its bytes, and
// copy_start_bytes, which no other copy may use. All copies of a device share rate_bytes_per_s in equal parts, and each
// has process_rate_bytes_per_s at most. What messages and copies of device memory cost is under "device", by the names
// of a cluster; a simulation is of either memory (bench/device_cases.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/base/file.hpp"
#include "model/base/json.hpp"

namespace simulation {

struct Protocol {
  double max_bytes = 0, alpha_s = 0, beta_s_per_byte = 0;
};

struct Locality {
  double send_overhead_s = 0, receive_overhead_s = 0;
  std::vector<Protocol> protocols;

  const Protocol& protocol(double bytes) const {
    return *std::find_if(protocols.begin(), protocols.end() - 1,
                         [&](const Protocol& p) { return bytes <= p.max_bytes; });
  }
  double fastest() const {
    return std::min_element(protocols.begin(), protocols.end(),
                            [](const Protocol& a, const Protocol& b) { return a.beta_s_per_byte < b.beta_s_per_byte; })
        ->beta_s_per_byte;
  }
  /// Time of the sender's processor.
  double send_seconds(double bytes) const {
    return send_overhead_s + (protocol(bytes).beta_s_per_byte - fastest()) * bytes;
  }
};

struct Devices {
  int per_node = 0;
  double copy_alpha_s = 0, copy_start_bytes = 0, rate_bytes_per_s = 0, process_rate_bytes_per_s = 0;
  double own_copy_s = 0, own_copy_rate_bytes_per_s = 0;  // of a copy within the device
};

struct ReceiveQueue {
  int messages = 0;  // 0: no limit
  double retransmission_s = 0;
};

/// The simulated host that stands for a device.
inline std::string device_host(int node, int device) {
  return "n" + std::to_string(node) + "d" + std::to_string(device);
}

/// Where a simulated host is. Hosts are called n<node>c<core>.
struct Place {
  int node = 0, core = 0;
  std::uint64_t number() const {
    constexpr std::uint64_t most_cores = 1 << 16;
    return static_cast<std::uint64_t>(node) * most_cores + static_cast<std::uint64_t>(core);
  }
};

inline Place place_of(const std::string& host) {
  const auto c = host.find('c');
  return {std::stoi(host.substr(1, c - 1)), std::stoi(host.substr(c + 1))};
}

struct Cluster {
  int nodes = 0, sockets = 0, cores = 0;  // cores of a socket
  std::array<Locality, 3> localities;     // socket, node, network
  double ejection_rate_bytes_per_s = 0;   // 0: no limit; so with the two that follow
  double core_rate_per_node_bytes_per_s = 0, bus_rate_bytes_per_s = 0;
  double injection_rate_bytes_per_s = 0, copy_rate_bytes_per_s = 0, copy_block_s = 0, copy_call_s = 0;
  Devices devices;
  int leaf_nodes = 0;                // of a leaf switch; 0: there are none
  double leaf_rate_bytes_per_s = 0;  // out of one, and as much into it
  double value_run_s = 2e-9;         // docs/benchmarks.md, "Indexed exchanges"
  double reduction_rate_bytes_per_s = 0;
  int slow_node = -1;  // none
  double slowdown = 1;
  ReceiveQueue receive_queue;
  bool shares_memory = false;
  double push_s = 0;

  /// By what a message between two places takes longer, or work where both are one.
  double slowness(Place a, Place b) const { return a.node == slow_node || b.node == slow_node ? slowdown : 1; }
  const Locality& locality(Place a, Place b) const {
    if (a.node != b.node) return localities[2];
    return localities[a.core / cores == b.core / cores ? 0 : 1];
  }
};

/// Reads the description that SIMULATED_CLUSTER names; SIMULATED_NODES, if set, says how many nodes it has.
inline Cluster read_cluster() {
  const char* file = std::getenv("SIMULATED_CLUSTER");
  if (!file) throw std::invalid_argument("SIMULATED_CLUSTER names no cluster description");
  const auto json = commpass::Json::parse(commpass::read_file(file), file);
  Cluster cluster;
  cluster.nodes = json.at("nodes").get<int>();
  if (const char* nodes = std::getenv("SIMULATED_NODES")) cluster.nodes = std::atoi(nodes);
  cluster.sockets = json.at("sockets").get<int>();
  cluster.cores = json.at("cores").get<int>();
  const std::array names{"socket", "node", "network"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& in = json.at(names[i]);
    auto& out = cluster.localities[i];
    out.send_overhead_s = in.at("send_overhead_s").get<double>();
    out.receive_overhead_s = in.value("receive_overhead_s", 0.0);
    for (const auto& p : in.at("protocols"))
      out.protocols.push_back(
          {p.value("max_bytes", 0.0), p.at("alpha_s").get<double>(), p.at("beta_s_per_byte").get<double>()});
  }
  cluster.injection_rate_bytes_per_s = json.at("injection_rate_bytes_per_s").get<double>();
  cluster.ejection_rate_bytes_per_s = json.value("ejection_rate_bytes_per_s", 0.0);
  cluster.core_rate_per_node_bytes_per_s = json.value("core_rate_per_node_bytes_per_s", 0.0);
  cluster.bus_rate_bytes_per_s = json.value("bus_rate_bytes_per_s", 0.0);
  if (cluster.bus_rate_bytes_per_s > 0 && cluster.localities[0].fastest() != cluster.localities[1].fastest())
    throw std::invalid_argument("a cluster with a bus has one fastest rate within a node");
  cluster.copy_rate_bytes_per_s = json.at("copy_rate_bytes_per_s").get<double>();
  cluster.copy_block_s = json.at("copy_block_s").get<double>();
  cluster.copy_call_s = json.value("copy_call_s", 0.0);
  if (json.contains("devices")) {
    const auto& in = json.at("devices");
    cluster.devices = {in.at("per_node").get<int>(), in.at("copy_alpha_s").get<double>(),
                       in.at("copy_start_bytes").get<double>(), in.at("rate_bytes_per_s").get<double>(),
                       in.at("process_rate_bytes_per_s").get<double>()};
    const auto own = json.value("device", commpass::Json::object());
    cluster.devices.own_copy_s = own.value("copy_call_s", 0.0) + own.value("copy_block_s", 0.0);
    cluster.devices.own_copy_rate_bytes_per_s = own.value("copy_rate_bytes_per_s", cluster.copy_rate_bytes_per_s);
  }
  cluster.leaf_nodes = json.value("leaf_nodes", 0);
  cluster.leaf_rate_bytes_per_s = json.value("leaf_rate_bytes_per_s", 0.0);
  cluster.value_run_s = json.value("value_run_s", cluster.value_run_s);
  constexpr double usual_ratio = 0.75;  // docs/benchmarks.md, "What running costs"
  cluster.reduction_rate_bytes_per_s =
      json.value("reduction_rate_bytes_per_s", usual_ratio * cluster.copy_rate_bytes_per_s);
  cluster.slow_node = json.value("slow_node", cluster.slow_node);
  cluster.slowdown = json.value("slowdown", cluster.slowdown);
  cluster.shares_memory = json.value("shares_memory", false);
  cluster.push_s = json.value("push_s", 0.0);
  if (json.contains("receive_queue")) {
    const auto& in = json.at("receive_queue");
    cluster.receive_queue = {in.at("messages").get<int>(), in.at("retransmission_s").get<double>()};
  }
  return cluster;
}

}  // namespace simulation
