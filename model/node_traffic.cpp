#include "model/node_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/error.hpp"

namespace commpass {

NodeTraffic node_traffic(const Pattern& pattern, const Layout& layout) {
  if (pattern.ranks != layout.ranks())
    throw InputError("layout", fmt::format("it has {} ranks but the pattern has {}", layout.ranks(), pattern.ranks), "use a layout for the pattern's ranks");
  struct ToNode {
    NodeTraffic::Entry entry;
    Payload payload;
  };
  std::vector<ToNode> edges;
  for (const auto& [source, destination, bytes, payload] : pattern.edges)
    if (bytes > 0 && layout.node(source) != layout.node(destination)) edges.push_back({{source, layout.node(destination), bytes}, payload});
  const auto ends = [](const NodeTraffic::Entry& e) { return std::pair(e.source, e.node); };
  std::ranges::sort(edges, {}, [](const ToNode& e) { return std::tuple(e.entry.source, e.entry.node, e.payload); });
  NodeTraffic traffic;
  auto last_payload = no_payload;
  for (const auto& [entry, payload] : edges) {
    const bool is_same_pair = !traffic.entries.empty() && ends(traffic.entries.back()) == ends(entry);
    const bool is_repeated = is_same_pair && payload != no_payload && payload == last_payload;
    last_payload = payload;
    if (!is_same_pair) traffic.entries.push_back(entry);
    else if (!is_repeated) traffic.entries.back().bytes += entry.bytes;
  }
  return traffic;
}

}  // namespace commpass
