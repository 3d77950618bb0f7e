#include "runtime/mpi/detect_layout.hpp"

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/node_address.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

constexpr std::size_t remembered_max = 8;

struct KnownLevels {
  std::map<int, std::size_t> position_of = {};  ///< by rank in MPI_COMM_WORLD
  Levels levels = {};
};

/// Of the process.
struct Remembered {
  std::mutex mutex = {};
  std::list<KnownLevels> known = {};  ///< the latest first
};

Remembered& remembered() {
  static auto& only = *new Remembered;  // never destroyed: programs call MPI until the very end
  return only;
}

std::optional<Levels> part_of(const KnownLevels& known, std::span<const int> world_ranks) {
  std::vector<std::size_t> positions;
  for (const int rank : world_ranks) {
    const auto found = known.position_of.find(rank);
    if (found == known.position_of.end()) return {};
    positions.push_back(found->second);
  }
  Levels part;
  for (const auto& level : known.levels) {
    auto& ids = part.emplace_back(Layout::LevelIds{level.name, {}}).ids;
    for (const auto position : positions) ids.push_back(level.ids[position]);
  }
  return part;
}

}  // namespace

std::optional<Levels> find_known_levels(std::span<const int> world_ranks) {
  auto& of_process = remembered();
  const std::lock_guard lock(of_process.mutex);
  for (const auto& known : of_process.known)
    if (auto part = part_of(known, world_ranks)) return part;
  return {};
}

void remember_levels(std::span<const int> world_ranks, const Levels& levels) {
  KnownLevels one{{}, levels};
  for (std::size_t i = 0; i < world_ranks.size(); ++i) one.position_of[world_ranks[i]] = i;
  auto& of_process = remembered();
  const std::lock_guard lock(of_process.mutex);
  of_process.known.push_front(std::move(one));
  if (of_process.known.size() > remembered_max) of_process.known.pop_back();
}

namespace {

using Topology = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)>;

/// The levels of a node that hwloc reports, innermost first, and their names.
struct NodeLevel {
  const char* name;
  hwloc_obj_type_t type;
};
constexpr std::array node_levels{NodeLevel{"cache", HWLOC_OBJ_L3CACHE}, NodeLevel{"numa", HWLOC_OBJ_NUMANODE},
                                 NodeLevel{"socket", HWLOC_OBJ_PACKAGE}};
using NodePlace = std::array<int, node_levels.size()>;  // the number of the instance at each level

/// The packages, NUMA domains and caches of this node, also those that this process may not use, so that all ranks
/// number them alike.
/// @param xml  the topology that another rank of the node has found; empty: detect it
/// @return null if hwloc fails
Topology load_topology(const std::string& xml) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, hwloc_topology_destroy};
  Topology topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const auto& level : node_levels) hwloc_topology_set_type_filter(raw, level.type, HWLOC_TYPE_FILTER_KEEP_ALL);
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

/// The instance of each level that holds all processors of this process; 0 where none does, or hwloc fails.
NodePlace bound_to(hwloc_topology_t topology) {
  NodePlace place{};
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> bound(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (!bound || hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) != 0) return place;
  for (std::size_t l = 0; l < place.size(); ++l)
    for (const hwloc_obj* instance = nullptr;
         (instance = hwloc_get_next_obj_by_type(topology, node_levels[l].type, const_cast<hwloc_obj*>(instance)));)
      if (hwloc_bitmap_isincluded(bound.get(), instance->cpuset)) {
        place[l] = static_cast<int>(instance->logical_index);
        break;
      }
  return place;
}

/// One rank of a node detects the topology and sends it to the others: detection reads thousands of files of the
/// system, and takes longer the more processes do it at once. Collective.
NodePlace place_on_node(MPI_Comm node) {
  std::string xml;
  Topology topology(nullptr, hwloc_topology_destroy);
  if (rank_in(node) == 0) topology = load_topology({});
  if (topology) xml = insist([&] { return to_xml(topology.get()); });
  xml = broadcast(node, xml);
  if (!topology && !xml.empty()) topology = load_topology(xml);
  return topology ? bound_to(topology.get()) : NodePlace{};
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

/// Without levels whose instances are those of the next outer one.
Levels without_repeated(Levels levels) {
  const Layout layout(levels);
  std::vector<std::string> repeated;
  for (std::size_t l = 0; l + 1 < layout.told().size(); ++l)
    if (layout.told()[l].instances() == layout.told()[l + 1].instances()) repeated.push_back(layout.told()[l].name);
  std::erase_if(levels, [&](const auto& level) {
    return level.name != node_level_name && std::ranges::count(repeated, level.name) > 0;
  });
  return levels;
}

/// The levels up to nodes. A node is named by the lowest rank on it. Collective.
Levels detect_levels(const OwnCommunicator& own) {
  const auto node = OwnCommunicator::split_by_node(own.get());
  struct Place {
    int leader;
    NodePlace on_node;
  };
  Place mine{own.rank(), place_on_node(node.get())};
  COMMPASS_MPI_CALL(MPI_Bcast, &mine.leader, 1, MPI_INT, 0, node.get());
  std::vector<Place> all(static_cast<std::size_t>(own.size()));
  constexpr int ints = sizeof(Place) / sizeof(int);
  COMMPASS_MPI_CALL(MPI_Allgather, &mine, ints, MPI_INT, all.data(), ints, MPI_INT, own.get());
  Levels levels;
  for (std::size_t l = 0; l < node_levels.size(); ++l) {
    auto& ids = levels.emplace_back(Layout::LevelIds{node_levels[l].name, {}}).ids;
    for (const auto& place : all) ids.push_back(place.on_node[l]);
  }
  auto& node_of = levels.emplace_back(Layout::LevelIds{node_level_name, {}}).ids;
  for (const auto& place : all) node_of.push_back(place.leader);
  return levels;
}

/// The levels that all ranks know; nothing where ranks know different ones or none: then all detect them. Collective.
std::optional<Levels> recall_levels(const OwnCommunicator& own, std::span<const int> world_ranks) {
  std::optional<Levels> known;
  std::uint64_t digest = 0;
  Failure failure;
  attempt(failure, [&] {
    if (!world_ranks.empty()) known = find_known_levels(world_ranks);
    if (known) digest = std::hash<std::string>()(places_text(Layout(*known)));
  });
  std::array<std::uint64_t, 3> agreed{known && !failure ? 1U : 0U, digest, ~digest};
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, agreed.data(), static_cast<int>(agreed.size()), MPI_UINT64_T, MPI_MIN,
                    own.get());
  const bool is_same = agreed[0] == 1 && agreed[1] == ~agreed[2];
  return is_same ? std::move(known) : std::nullopt;
}

Levels find_levels(const OwnCommunicator& own) {
  auto world_ranks = world_ranks_of(own.get());
  if (std::ranges::count(world_ranks, MPI_UNDEFINED) > 0) world_ranks.clear();
  if (auto known = recall_levels(own, world_ranks)) return std::move(*known);
  auto levels = detect_levels(own);
  Failure without_memory;  // the next communicator then detects its levels again
  if (!world_ranks.empty()) attempt(without_memory, [&] { remember_levels(world_ranks, levels); });
  return levels;
}

}  // namespace

Layout detect_layout(MPI_Comm comm) {
  const OwnCommunicator own(comm);
  auto levels = find_levels(own);
  const auto address = node_address_here();
  int all_know_address = address ? 1 : 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &all_know_address, 1, MPI_INT, MPI_MIN, own.get());
  std::vector<int> groups;
  if (all_know_address) groups = gather_groups(own, levels.back().ids, *address);
  if (!groups.empty()) levels.push_back({"group", std::move(groups)});
  return Layout(without_repeated(std::move(levels)));
}

}  // namespace commpass
