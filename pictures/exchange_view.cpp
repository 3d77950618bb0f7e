#include "pictures/exchange_view.hpp"

#include "model/route/catalogue.hpp"
#include "model/route/placement.hpp"

namespace commpass {

ExchangeView view_exchange(Pattern pattern, const Layout& layout, const Strategy& strategy) {
  const auto route = make_route(strategy, layout, pattern);
  ExchangeView view{{}, layout, strategy, make_schedule(*route, strategy.window, pattern, strategy.coalescing), {}};
  if (!strategy.values("placed").empty()) {
    auto unplaced = strategy;
    unplaced.set("placed", {});
    view.positions = place_ranks(*make_route(unplaced, layout, pattern), layout, pattern);
  }
  view.pattern = std::move(pattern);
  return view;
}

Trace trace_view(const ExchangeView& view, const Machine& machine) {
  return trace_exchange(view.schedule, view.layout, machine, Usage::planned, view.strategy.path);
}

}  // namespace commpass
