#include "runtime/mpi/detect_layout.hpp"

#include <hwloc.h>

#include <array>
#include <memory>
#include <vector>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

namespace {

/// The package that holds all processors this process may run on; 0 if it may run on several or nobody knows.
int bound_package() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return 0;
  const std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) return 0;
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> bound(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (!bound || hwloc_get_cpubind(raw, bound.get(), HWLOC_CPUBIND_PROCESS) != 0) return 0;
  const int packages = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PACKAGE);
  for (int i = 0; i < packages; ++i) {
    const auto* package = hwloc_get_obj_by_type(raw, HWLOC_OBJ_PACKAGE, static_cast<unsigned>(i));
    if (hwloc_bitmap_isincluded(bound.get(), package->cpuset)) return i;
  }
  return 0;
}

}  // namespace

Layout detect_layout(MPI_Comm comm) {
  const OwnCommunicator own(comm);
  const auto node = OwnCommunicator::split_by_node(own.get());
  // A node is named by the lowest rank on it.
  std::array mine{own.rank(), bound_package()};
  COMMPASS_MPI_CALL(MPI_Bcast, mine.data(), 1, MPI_INT, 0, node.get());
  std::vector<std::array<int, 2>> all(static_cast<std::size_t>(own.size()));
  COMMPASS_MPI_CALL(MPI_Allgather, mine.data(), 2, MPI_INT, all.data(), 2, MPI_INT, own.get());
  std::vector<int> node_of, socket_of;
  for (const auto& [leader, package] : all) {
    node_of.push_back(leader);
    socket_of.push_back(package);
  }
  return Layout(node_of, socket_of);
}

}  // namespace commpass
