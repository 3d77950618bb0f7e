#include "runtime/mpi/detect_layout.hpp"

#include <hwloc.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/node_address.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

using Topology = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)>;

/// The packages of this node, those that this process may not use among them, so that all ranks number them alike.
/// @param xml  what another rank of the node has found; empty: look
/// @return null if nobody knows
Topology load_packages(const std::string& xml) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, hwloc_topology_destroy};
  Topology topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
  if (!xml.empty()) {
    flags |= HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM;
    if (hwloc_topology_set_xmlbuffer(raw, xml.c_str(), static_cast<int>(xml.size()) + 1) != 0) topology.reset();
  }
  if (topology && (hwloc_topology_set_flags(raw, flags) != 0 || hwloc_topology_load(raw) != 0)) topology.reset();
  return topology;
}

std::string to_xml(hwloc_topology_t topology) {
  char* buffer = nullptr;
  int bytes = 0;
  if (hwloc_topology_export_xmlbuffer(topology, &buffer, &bytes, 0) != 0) return {};
  std::string xml(buffer);
  hwloc_free_xmlbuffer(topology, buffer);
  return xml;
}

/// The package that holds all processors this process may run on; 0 if it may run on several or nobody knows.
int bound_package(hwloc_topology_t topology) {
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> bound(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (!bound || hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) != 0) return 0;
  const int packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
  for (int i = 0; i < packages; ++i) {
    const auto* package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, static_cast<unsigned>(i));
    if (hwloc_bitmap_isincluded(bound.get(), package->cpuset)) return i;
  }
  return 0;
}

/// One rank of a node looks, and tells the others: looking reads thousands of files of the system, slower the more
/// processes do at once. Collective.
int package_on_node(MPI_Comm node) {
  std::string xml;
  Topology topology(nullptr, hwloc_topology_destroy);
  if (rank_in(node) == 0) topology = load_packages({});
  if (topology) xml = insist([&] { return to_xml(topology.get()); });
  xml = broadcast(node, xml);
  if (!topology && !xml.empty()) topology = load_packages(xml);
  return topology ? bound_package(topology.get()) : 0;
}

/// The group of each rank; nothing where addresses contradict each other. Collective.
std::vector<int> gather_groups(const OwnCommunicator& own, std::span<const int> node_of, const NodeAddress& here) {
  const std::array mine{here.group, here.node};
  std::vector<std::array<std::uint64_t, 2>> all(node_of.size());
  COMMPASS_MPI_CALL(MPI_Allgather, mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, own.get());
  std::vector<NodeAddress> addresses;
  for (const auto& [group, address] : all) addresses.push_back(NodeAddress{group, address});
  return groups_of(node_of, addresses);
}

}  // namespace

Layout detect_layout(MPI_Comm comm) {
  const OwnCommunicator own(comm);
  const auto node = OwnCommunicator::split_by_node(own.get());
  // A node is named by the lowest rank on it.
  const auto address = node_address_here();
  std::array mine{own.rank(), package_on_node(node.get()), address ? 1 : 0};
  COMMPASS_MPI_CALL(MPI_Bcast, mine.data(), 1, MPI_INT, 0, node.get());
  std::vector<std::array<int, 3>> all(static_cast<std::size_t>(own.size()));
  COMMPASS_MPI_CALL(MPI_Allgather, mine.data(), 3, MPI_INT, all.data(), 3, MPI_INT, own.get());
  std::vector<int> node_of, socket_of;
  bool all_know = true;
  for (const auto& [leader, package, knows] : all) {
    node_of.push_back(leader);
    socket_of.push_back(package);
    all_know = all_know && knows == 1;
  }
  return Layout(node_of, socket_of, all_know ? gather_groups(own, node_of, *address) : std::vector<int>());
}

}  // namespace commpass
