// standard: every block goes straight to its destination. With window 1 it is the papers' pairwise, with an unlimited
// window spread-out, in between scattered.
#include <array>
#include <string>

#include "model/route/address_route.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {
namespace standard {

constexpr const char* large_first = "large-first";

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables&) {
  auto address = Address::flat(layout.ranks(), {});
  for (auto& digit : address.digits) digit.label = "direct";
  const std::array<std::size_t, 1> order{0};
  auto route = std::make_unique<AddressRoute>(std::move(address), std::span(order).first(layout.ranks() > 1 ? 1 : 0));
  if (!strategy.values(large_first).empty()) route->send_large_first();
  return route;
}

std::string malformed(const Strategy& strategy) {
  if (strategy.values(large_first).empty()) return {};
  if (!strategy.window.unlimited()) return "large-first orders messages in flight at once, so it takes no window";
  return strategy.coalescing == Coalescing::staggered ? "staggered messages go in the order of their rounds" : "";
}

std::vector<Strategy> suggest(const Layout& layout) {
  std::vector<Strategy> strategies{{"standard", {}, {}}};
  constexpr int smallest = 8, step = 4;  // below 8 rounds in flight latencies no longer overlap
  for (int window = smallest; window < layout.ranks() - 1; window *= step)
    strategies.push_back({"standard", {}, {window}});
  return strategies;
}

}  // namespace standard
}  // namespace

CatalogueRow standard_row() {
  using namespace standard;
  return {.name = "standard",
          .usage = "standard[,large-first][,window=W][,staggered]",
          .summary = "every block straight to its destination (window 1: pairwise; unlimited: spread-out)",
          .source = "SC'19 STFW paper §6.1 (baseline BL); TuNA paper §II (d)",
          .parameters = {{large_first, Parameter::Kind::flag, 1,
                          "messages of 8 KiB and more leave before smaller ones, the largest first"}},
          .default_window = {},
          .malformed = malformed,
          .make = make,
          .suggest = suggest};
}

}  // namespace commpass
