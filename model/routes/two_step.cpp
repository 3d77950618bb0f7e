// two-step: to the rank with the same local rank on the destination's node, then to the destination.
#include <array>

#include "model/address_route.hpp"
#include "model/catalogue.hpp"

namespace commpass {

namespace {

// Where a digit is missing (one node, one rank a node) the other one is left.
std::unique_ptr<Route> make(const Strategy&, const Layout& layout, const NodeTraffic&) {
  auto address = node_address(layout);
  const std::array<std::size_t, 2> node_first{1, 0};
  const auto missing = node_first.size() - address.digits.size();
  return std::make_unique<AddressRoute>(std::move(address), std::span(node_first).subspan(missing));
}

std::vector<Strategy> suggest(const Layout& layout) {
  if (layout.nodes() == 1 || layout.max_ppn() == 1) return {};  // the same as standard
  return {{"two-step", {}, {}}};
}

}  // namespace

CatalogueRow two_step_row() {
  return {.name = "two-step",
          .usage = "two-step[,window=W][,staggered]",
          .summary = "to the partner with the same local rank on the destination's node, then within that node",
          .source = "node-aware paper (Lockhart, Bienz, Gropp, Olson) §2.3.2",
          .parameters = {},
          .default_window = {},
          .malformed = [](const Strategy&) { return std::string(); },
          .inapplicable = [](const Strategy&, const Layout&) { return std::string(); },
          .make = make,
          .suggest = suggest};
}

}  // namespace commpass
