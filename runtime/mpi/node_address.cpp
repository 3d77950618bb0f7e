#include "runtime/mpi/node_address.hpp"

#include <cstdlib>
#include <map>

#include "model/base/text.hpp"
#include "model/mixed.hpp"

namespace commpass {

namespace {

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t number = text.size();
  for (const char c : text) number = mixed({number, static_cast<unsigned char>(c)});
  return number;
}

}  // namespace

std::optional<NodeAddress> read_node_address(const std::string& address, const std::string& pattern) {
  const auto levels = split(address, '.'), kinds = split(pattern, '.');
  if (levels.size() != kinds.size() || kinds.size() < 2 || kinds.back() != "node") return std::nullopt;
  return NodeAddress{hash_of(address.substr(0, address.rfind('.'))), hash_of(address)};
}

std::optional<NodeAddress> node_address_here() {
  const char* const address = std::getenv("SLURM_TOPOLOGY_ADDR");
  const char* const pattern = std::getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
  return address && pattern ? read_node_address(address, pattern) : std::nullopt;
}

std::vector<int> groups_of(std::span<const int> node_of, std::span<const NodeAddress> addresses) {
  std::map<int, std::uint64_t> address_of_node;
  std::map<std::uint64_t, int> node_of_address, groups;
  std::vector<int> result;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const auto& address = addresses[rank];
    if (address_of_node.try_emplace(node_of[rank], address.node).first->second != address.node) return {};
    if (node_of_address.try_emplace(address.node, node_of[rank]).first->second != node_of[rank]) return {};
    result.push_back(groups.try_emplace(address.group, static_cast<int>(groups.size())).first->second);
  }
  return result;
}

}  // namespace commpass
