#include "model/pattern/node_traffic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "model/base/error.hpp"
#include "model/grouping.hpp"

namespace commpass {

NodeTraffic node_traffic(const Pattern& pattern, const Layout& layout) {
  if (pattern.ranks != layout.ranks())
    throw InputError("layout", fmt::format("it has {} ranks but the pattern has {}", layout.ranks(), pattern.ranks),
                     "use a layout for the pattern's ranks");
  struct ToNode {
    NodeTraffic::Entry entry;
    Payload payload;
  };
  std::vector<ToNode> edges;
  bool shares = false;
  for (const auto& [source, destination, bytes, payload] : pattern.edges) {
    if (bytes == 0 || layout.node(source) == layout.node(destination)) continue;
    edges.push_back({{source, layout.node(destination), bytes}, payload});
    shares = shares || payload != no_payload;
  }
  const auto ends = [](const NodeTraffic::Entry& e) { return std::pair(e.source, e.node); };
  if (shares) std::ranges::sort(edges, {}, &ToNode::payload);
  stable_counting_sort(edges, layout.nodes(), [](const ToNode& e) { return e.entry.node; });
  stable_counting_sort(edges, layout.ranks(), [](const ToNode& e) { return e.entry.source; });
  NodeTraffic traffic;
  if (pattern.is_transposed()) traffic.unit = pattern.added_value_bytes;
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
