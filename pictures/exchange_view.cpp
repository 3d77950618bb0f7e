#include "pictures/exchange_view.hpp"

#include "model/route/catalogue.hpp"

namespace commpass {

ExchangeView view_exchange(Pattern pattern, const Layout& layout, const Strategy& strategy) {
  auto tables = make_tables(strategy, layout, pattern);
  const auto route = make_route(strategy, layout, tables);
  auto schedule = make_schedule(*route, strategy.window, pattern, strategy.coalescing);
  return {std::move(pattern), layout, strategy, std::move(schedule), std::move(tables.positions)};
}

Trace trace_view(const ExchangeView& view, const Machine& machine) {
  return trace_exchange(view.schedule, view.layout, machine, Usage::planned, view.strategy.path);
}

}  // namespace commpass
