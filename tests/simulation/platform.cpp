// A SimGrid platform made from a cluster description. One simulated host is one core, and so one rank.
#include <smpi/smpi.h>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

#include "simulation/description.hpp"
#include "simulation/noise.hpp"

namespace {

namespace s4u = simgrid::s4u;

constexpr double envelope_bytes = 16;                          // SMPI adds it to every message
constexpr double unit_bandwidth = 100e9, unit_latency = 1e-6;  // factors are relative to these

simulation::Cluster cluster;
std::unordered_map<const s4u::Host*, simulation::Place> places;

const simulation::Locality& locality(const s4u::Host* from, const s4u::Host* to) {
  return cluster.locality(places.at(from), places.at(to));
}

using Links = std::vector<s4u::Link*>;
using Zones = std::unordered_set<s4u::NetZone*>;

/// By what a message that leaves now takes longer than it should: the same for its latency and its bytes.
double delay(double bytes, const s4u::Host* from, const s4u::Host* to) {
  static const auto noise = simulation::Noise::from_environment();
  const double slow = cluster.slowness(places.at(from), places.at(to));
  return noise ? slow * noise->of_message(s4u::Engine::get_clock(), places.at(from).number(), places.at(to).number(),
                                          bytes)
               : slow;
}

/// When a rank will have taken each message that is on its way to it or waits for it, in order.
std::unordered_map<const s4u::Host*, std::deque<double>> queues;

/// By what a message that leaves now arrives later because the receiver's queue is full.
double retransmission(double latency_s, const s4u::Host* from, const s4u::Host* to) {
  if (cluster.receive_queue.messages == 0 || places.at(from).node == places.at(to).node) return 0;
  auto& queue = queues[to];
  const double now = s4u::Engine::get_clock();
  while (!queue.empty() && queue.front() <= now) queue.pop_front();
  if (queue.size() >= static_cast<std::size_t>(cluster.receive_queue.messages))
    return cluster.receive_queue.retransmission_s;
  const double arrives = now + latency_s;
  queue.push_back((queue.empty() ? arrives : std::max(arrives, queue.back())) + locality(from, to).receive_overhead_s);
  return 0;
}

/// The part of alpha that the overheads charged to the processors do not cover.
double latency_factor(double bytes, const s4u::Host* from, const s4u::Host* to, const Links&, const Zones&) {
  const auto& l = locality(from, to);
  const double bare = std::max(0.0, bytes - envelope_bytes);
  const double latency_s = delay(bytes, from, to) * (l.protocol(bare).alpha_s - l.send_overhead_s -
                                                     l.receive_overhead_s - envelope_bytes * l.fastest());
  return (latency_s + retransmission(latency_s, from, to)) / unit_latency;
}

double bandwidth_factor(double bytes, const s4u::Host* from, const s4u::Host* to, const Links&, const Zones&) {
  return 1 / locality(from, to).fastest() / unit_bandwidth / delay(bytes, from, to);
}

/// SMPI charges this for MPI_Isend only; costs.cpp does the rest.
double send_seconds(std::size_t bytes, s4u::Host* from, s4u::Host* to) {
  static const auto noise = simulation::Noise::from_environment();
  const double busy = noise ? noise->of_work(s4u::Engine::get_clock(), places.at(from).number()) : 1;
  return busy * cluster.slowness(places.at(from), places.at(from)) *
         locality(from, to).send_seconds(static_cast<double>(bytes));
}

using Route = std::vector<s4u::LinkInRoute>;

struct Core {
  s4u::Host* host;
  Route up;
};

Core add_core(s4u::NetZone* zone, int node, int core) {
  const auto name = "n" + std::to_string(node) + "c" + std::to_string(core);
  constexpr double flops_per_s = 1e9;  // never used: computing takes no simulated time
  auto* host = zone->create_host(name, flops_per_s);
  host->seal();
  places[host] = {node, core};
  auto* link = zone->create_link(name + "-link", unit_bandwidth);
  link->set_latency(unit_latency);
  link->seal();
  return {host, {s4u::LinkInRoute(link)}};
}

/// A rate that is shared; nothing if it is 0, no limit: links on both ends of a route make the solver slow.
/// @param fastest  of the locality of the flows
Route add_shared(s4u::NetZone* zone, const std::string& name, double rate_bytes_per_s, double fastest) {
  if (rate_bytes_per_s == 0) return {};
  // A flow takes its share of a link before the factor is applied, so the rate is scaled by the locality's factor.
  auto* shared = zone->create_link(name, rate_bytes_per_s * unit_bandwidth * fastest);
  shared->seal();
  return {s4u::LinkInRoute(shared)};
}

Route joined(Route first, const Route& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Cores that share nothing within their node.
void fill_star(s4u::NetZone* zone, int node, int cores) {
  for (int i = 0; i < cores; ++i) {
    const auto core = add_core(zone, node, i);
    zone->add_route(core.host->get_netpoint(), nullptr, nullptr, nullptr, core.up, false);
    zone->add_route(nullptr, core.host->get_netpoint(), nullptr, nullptr, Route{}, false);
  }
}

/// Cores whose messages within their node go over a bus: routes from every one to every one.
void fill_full(s4u::NetZone* zone, simgrid::kernel::routing::NetPoint* router, int node, int cores) {
  const auto bus =
      add_shared(zone, zone->get_name() + "-bus", cluster.bus_rate_bytes_per_s, cluster.localities[0].fastest());
  std::vector<Core> all;
  for (int i = 0; i < cores; ++i) all.push_back(add_core(zone, node, i));
  for (const auto& from : all) {
    auto* const own = from.host->get_netpoint();
    zone->add_route(own, router, nullptr, nullptr, from.up, false);
    // A zone of routes wants a link in each; this one never limits.
    zone->add_route(router, own, nullptr, nullptr, add_shared(zone, from.host->get_name() + "-gate", unit_bandwidth, 1),
                    false);
    for (const auto& to : all)
      zone->add_route(own, to.host->get_netpoint(), nullptr, nullptr, joined(from.up, bus), false);
  }
}

/// Hosts whose work is bytes that they copy.
void add_devices(s4u::NetZone* zone, int node) {
  for (int device = 0; device < cluster.devices.per_node; ++device)
    zone->create_host(simulation::device_host(node, device), cluster.devices.rate_bytes_per_s)->seal();
}

/// A node, and the ways out of it and into it.
struct Node {
  s4u::NetZone* zone;
  simgrid::kernel::routing::NetPoint* router;
  Route out, in;
};

/// Nodes below leaf switches: routes from every one to every other, those out of a leaf by its switch, and by
/// that of the other.
void connect_by_leaves(s4u::NetZone* root, const std::vector<Node>& nodes) {
  const auto leaf_nodes = static_cast<std::size_t>(cluster.leaf_nodes);
  std::vector<Route> up, down;
  for (std::size_t leaf = 0; leaf * leaf_nodes < nodes.size(); ++leaf)
    for (auto& [ways, name] : {std::pair(&up, "-up"), std::pair(&down, "-down")})
      ways->push_back(add_shared(root, "leaf" + std::to_string(leaf) + name, cluster.leaf_rate_bytes_per_s,
                                 cluster.localities[2].fastest()));
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (i == k) continue;
      const auto from = i / leaf_nodes, to = k / leaf_nodes;
      const auto way = from == to ? nodes[i].out : joined(joined(nodes[i].out, up[from]), down[to]);
      root->add_route(nodes[i].zone->get_netpoint(), nodes[k].zone->get_netpoint(), nodes[i].router, nodes[k].router,
                      joined(way, nodes[k].in), false);
    }
}

}  // namespace

extern "C" void load_platform(const s4u::Engine& engine) {
  cluster = simulation::read_cluster();
  const bool has_leaves = cluster.leaf_nodes > 0;
  auto* root = has_leaves ? s4u::create_full_zone("root") : s4u::create_star_zone("root");
  const auto between = [&](const std::string& name, double rate) {
    return add_shared(root, name, rate, cluster.localities[2].fastest());
  };
  const auto core = between("core", cluster.core_rate_per_node_bytes_per_s * cluster.nodes);
  std::vector<Node> nodes;
  for (int node = 0; node < cluster.nodes; ++node) {
    const auto name = "node" + std::to_string(node);
    const bool has_bus = cluster.bus_rate_bytes_per_s > 0;
    const int cores = cluster.sockets * cluster.cores;
    auto* zone = has_bus ? s4u::create_full_zone(name) : s4u::create_star_zone(name);
    zone->set_parent(root);
    auto* router = zone->create_router(name + "-router");
    if (has_bus) fill_full(zone, router, node, cores);
    else fill_star(zone, node, cores);
    add_devices(zone, node);
    zone->seal();
    nodes.push_back({zone, router, joined(between(name + "-nic", cluster.injection_rate_bytes_per_s), core),
                     between(name + "-nic-in", cluster.ejection_rate_bytes_per_s)});
  }
  if (has_leaves) connect_by_leaves(root, nodes);
  for (const auto& [zone, router, out, in] : nodes) {
    if (has_leaves) break;
    root->add_route(zone->get_netpoint(), nullptr, router, nullptr, out, false);
    root->add_route(nullptr, zone->get_netpoint(), nullptr, router, in, false);
  }
  root->seal();
  auto* model = engine.get_netzone_root()->get_network_model();
  model->set_lat_factor_cb(latency_factor);
  model->set_bw_factor_cb(bandwidth_factor);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, send_seconds);
}
