// A SimGrid platform made from a cluster description. One simulated host is one core, and so one rank.
#include <smpi/smpi.h>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>

#include <unordered_map>

#include "simulation/description.hpp"

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

/// What is left of alpha after the overheads that are charged to the processors.
double latency_factor(double bytes, const s4u::Host* from, const s4u::Host* to, const Links&, const Zones&) {
  const auto& l = locality(from, to);
  const double bare = std::max(0.0, bytes - envelope_bytes);
  return (l.protocol(bare).alpha_s - l.send_overhead_s - l.receive_overhead_s - envelope_bytes * l.fastest()) /
         unit_latency;
}

double bandwidth_factor(double, const s4u::Host* from, const s4u::Host* to, const Links&, const Zones&) {
  return 1 / locality(from, to).fastest() / unit_bandwidth;
}

/// SMPI charges this for MPI_Isend only; costs.cpp does the rest.
double send_seconds(std::size_t bytes, s4u::Host* from, s4u::Host* to) {
  return locality(from, to).send_seconds(static_cast<double>(bytes));
}

void add_core(s4u::NetZone* zone, int node, int core) {
  const auto name = "n" + std::to_string(node) + "c" + std::to_string(core);
  constexpr double flops_per_s = 1e9;  // never used: computing takes no simulated time
  auto* host = zone->create_host(name, flops_per_s);
  host->seal();
  places[host] = {node, core};
  auto* link = zone->create_link(name + "-link", unit_bandwidth);
  link->set_latency(unit_latency);
  link->seal();
  zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {s4u::LinkInRoute(link)}, false);
  zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, std::vector<s4u::LinkInRoute>{}, false);
}

/// One direction of a NIC; nothing if its rate is 0, no limit: links on both ends of a route make the solver slow.
std::vector<s4u::LinkInRoute> add_nic(s4u::NetZone* root, const std::string& name, double rate_bytes_per_s) {
  if (rate_bytes_per_s == 0) return {};
  // A flow takes its share of a link before the factor is applied, so the NIC is scaled by the network's factor.
  auto* nic = root->create_link(name, rate_bytes_per_s * unit_bandwidth * cluster.localities[2].fastest());
  nic->seal();
  return {s4u::LinkInRoute(nic)};
}

}  // namespace

extern "C" void load_platform(const s4u::Engine& engine) {
  cluster = simulation::read_cluster();
  auto* root = s4u::create_star_zone("root");
  for (int node = 0; node < cluster.nodes; ++node) {
    const auto name = "node" + std::to_string(node);
    auto* zone = s4u::create_star_zone(name);
    zone->set_parent(root);
    auto* router = zone->create_router(name + "-router");
    for (int core = 0; core < cluster.sockets * cluster.cores; ++core) add_core(zone, node, core);
    zone->seal();
    const auto out = add_nic(root, name + "-nic", cluster.injection_rate_bytes_per_s),
               in = add_nic(root, name + "-nic-in", cluster.ejection_rate_bytes_per_s);
    root->add_route(zone->get_netpoint(), nullptr, router, nullptr, out, false);
    root->add_route(nullptr, zone->get_netpoint(), nullptr, router, in, false);
  }
  root->seal();
  auto* model = engine.get_netzone_root()->get_network_model();
  model->set_lat_factor_cb(latency_factor);
  model->set_bw_factor_cb(bandwidth_factor);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, send_seconds);
}
