// A pattern in a few numbers, and the random pattern with these.
#include <algorithm>

#include "model/cost/cost.hpp"

namespace commpass {

void MessageTotals::add(Rank source, Rank destination, Bytes size, const Layout& layout) {
  if (source == destination || size <= 0) return;
  ++(layout.node(source) == layout.node(destination) ? on_node : off_node);
  bytes += static_cast<double>(size);
}

MessageTotals totals_of(const Pattern& pattern, const Layout& layout) {
  MessageTotals totals;
  for (const auto& edge : pattern.edges) totals.add(edge.source, edge.destination, edge.bytes, layout);
  return totals;
}

RandomPattern random_pattern(const MessageTotals& totals, const Layout& layout) {
  double pairs_on_node = 0;
  for (int node = 0; node < layout.nodes(); ++node)
    pairs_on_node += static_cast<double>(layout.ppn(node)) * (layout.ppn(node) - 1);
  const double pairs_off_node = static_cast<double>(layout.ranks()) * (layout.ranks() - 1) - pairs_on_node;
  const double on_node = std::min(pairs_on_node, static_cast<double>(totals.on_node)),
               off_node = std::min(pairs_off_node, static_cast<double>(totals.off_node));
  // Of no pairs all have a message.
  const auto density = [](double messages, double pairs) { return pairs > 0 ? messages / pairs : 1; };
  const double messages = on_node + off_node;
  return {density(on_node, pairs_on_node), density(off_node, pairs_off_node),
          messages > 0 ? totals.bytes / messages : 0};
}

}  // namespace commpass
