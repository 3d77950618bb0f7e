// The group of nodes of a rank, by Slurm's topology.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace commpass {

/// The place of a node in Slurm's topology, as hashes of texts.
struct NodeAddress {
  std::uint64_t group = 0;  ///< the levels above the node: switches, or its block
  std::uint64_t node = 0;   ///< all levels
  bool operator==(const NodeAddress&) const = default;
};

/// Reads Slurm's SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN: "s0.s4.n12" of the kind "switch.switch.node".
/// @return nothing without a level above nodes
std::optional<NodeAddress> read_node_address(const std::string& address, const std::string& pattern);

/// The address of the node of this process, from its environment.
std::optional<NodeAddress> node_address_here();

/// The group of each rank, for Layout.
/// @param node_of    P node ids
/// @param addresses  of as many ranks
/// @return nothing where ranks of one node differ in their address, or nodes do not: launchers other than srun give all
/// ranks the environment of one node
std::vector<int> groups_of(std::span<const int> node_of, std::span<const NodeAddress> addresses);

}  // namespace commpass
