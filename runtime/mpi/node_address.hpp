// Which group of nodes a rank is in, as Slurm's topology tells.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace commpass {

/// What Slurm's topology says of a node, as numbers that differ where the texts do.
struct NodeAddress {
  std::uint64_t group = 0;  ///< all above the node: the switches, or its block
  std::uint64_t node = 0;   ///< all of it
  bool operator==(const NodeAddress&) const = default;
};

/// Reads what Slurm writes into SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN: "s0.s4.n12" of the kind
/// "switch.switch.node". Nothing where it tells of no level above nodes.
std::optional<NodeAddress> read_node_address(const std::string& address, const std::string& pattern);

/// That of the node of this process, from its environment.
std::optional<NodeAddress> node_address_here();

/// The group of each rank, for Layout. Nothing where ranks of one node differ in their address, or nodes do not:
/// launchers other than srun give all ranks the environment of one node.
/// @param node_of    P node ids
/// @param addresses  of as many ranks
std::vector<int> groups_of(std::span<const int> node_of, std::span<const NodeAddress> addresses);

}  // namespace commpass
