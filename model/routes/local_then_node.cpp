// local-then-node: within the source's node to the rank with the destination's local rank, then across the network.
#include <array>

#include "model/address_route.hpp"
#include "model/catalogue.hpp"

namespace commpass {

namespace {

std::unique_ptr<Route> make(const Strategy&, const Layout& layout, const NodeTraffic&) {
  auto address = node_address(layout);
  const std::array<std::size_t, 2> local_first{0, 1};
  const auto order = std::span(local_first).first(address.digits.size());
  return std::make_unique<AddressRoute>(std::move(address), order);
}

std::vector<Strategy> suggest(const Layout& layout) {
  if (layout.nodes() == 1 || layout.max_ppn() == 1) return {};  // the same as standard
  return {{"local-then-node", {}, {}}};
}

}  // namespace

CatalogueRow local_then_node_row() {
  return {.name = "local-then-node",
          .usage = "local-then-node[,window=W][,staggered]",
          .summary = "within the node to the rank with the destination's local rank, then to the destination's node",
          .source = "TuNA paper §IV, hierarchical and coalesced, with one local digit",
          .parameters = {},
          .default_window = {},
          .malformed = [](const Strategy&) { return std::string(); },
          .inapplicable = [](const Strategy&, const Layout&) { return std::string(); },
          .make = make,
          .suggest = suggest};
}

}  // namespace commpass
