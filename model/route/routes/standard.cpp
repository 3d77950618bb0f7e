// standard: every block goes straight to its destination. With window 1 it is the papers' pairwise, with an unlimited
// window spread-out, in between scattered.
#include <array>

#include "model/route/address_route.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

std::unique_ptr<Route> make(const Strategy&, const Layout& layout, const PatternTables&) {
  auto address = Address::flat(layout.ranks(), {});
  for (auto& digit : address.digits) digit.label = "direct";
  const std::array<std::size_t, 1> order{0};
  return std::make_unique<AddressRoute>(std::move(address), std::span(order).first(layout.ranks() > 1 ? 1 : 0));
}

std::vector<Strategy> suggest(const Layout& layout) {
  std::vector<Strategy> strategies{{"standard", {}, {}}};
  constexpr int smallest = 8, step = 4;  // below 8 rounds in flight latencies no longer overlap
  for (int window = smallest; window < layout.ranks() - 1; window *= step)
    strategies.push_back({"standard", {}, {window}});
  return strategies;
}

}  // namespace

CatalogueRow standard_row() {
  return {.name = "standard",
          .usage = "standard[,window=W][,staggered]",
          .summary = "every block straight to its destination (window 1: pairwise; unlimited: spread-out)",
          .source = "SC'19 STFW paper §6.1 (baseline BL); TuNA paper §II (d)",
          .parameters = {},
          .default_window = {},
          .make = make,
          .suggest = suggest};
}

}  // namespace commpass
