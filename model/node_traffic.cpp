#include "model/node_traffic.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/error.hpp"
#include "model/grouping.hpp"

namespace commpass {

NodeTraffic node_traffic(const Pattern& pattern, const Layout& layout) {
  if (pattern.ranks != layout.ranks())
    throw InputError("layout", fmt::format("it has {} ranks but the pattern has {}", layout.ranks(), pattern.ranks), "use a layout for the pattern's ranks");
  std::vector<NodeTraffic::Entry> edges;
  for (const auto& [source, destination, bytes] : pattern.edges)
    if (bytes > 0 && layout.node(source) != layout.node(destination)) edges.push_back({source, layout.node(destination), bytes});
  stable_counting_sort(edges, layout.nodes(), &NodeTraffic::Entry::node);
  stable_counting_sort(edges, layout.ranks(), &NodeTraffic::Entry::source);
  const auto ends = [](const NodeTraffic::Entry& e) { return std::pair(e.source, e.node); };
  NodeTraffic traffic;
  for (const auto& edge : edges) {
    if (!traffic.entries.empty() && ends(traffic.entries.back()) == ends(edge)) traffic.entries.back().bytes += edge.bytes;
    else traffic.entries.push_back(edge);
  }
  return traffic;
}

}  // namespace commpass
