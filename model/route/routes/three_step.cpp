// three-step: all that goes from one node to another is gathered on one rank, sent in one message to one rank of the
// other node, and handed out there.
#include <limits>

#include "model/route/catalogue.hpp"
#include "model/route/relay_route.hpp"

namespace commpass {

namespace {
namespace three_step {

std::unique_ptr<Route> make(const Strategy&, const Layout& layout, const PatternTables& tables) {
  const auto uncut = [](const NodeReceives&) { return std::numeric_limits<Bytes>::max(); };
  return std::make_unique<RelayRoute>(layout, tables.traffic, uncut, RelayRoute::OnNode::last);
}

std::vector<Strategy> suggest(const Layout& layout) {
  if (layout.nodes() == 1 || layout.max_ppn() == 1) return {};  // the same as standard
  return {{"three-step", {}, {}}};
}

}  // namespace three_step
}  // namespace

CatalogueRow three_step_row() {
  using namespace three_step;
  return {.name = "three-step",
          .usage = "three-step[,staggered]",
          .summary = "to one rank for each other node, to one rank there, then within that node",
          .source = "node-aware paper (Lockhart, Bienz, Gropp, Olson) §2.3.1",
          .parameters = {},
          .default_window = {},
          .malformed = refuse_window,
          .make = make,
          .suggest = suggest,
          .need = [](const Strategy&) { return PatternNeed::node_traffic; },
          .tables =
              [](const Strategy&, const Layout& layout, const Pattern& pattern) {
                return PatternTables{node_traffic(pattern, layout), {}};
              }};
}

}  // namespace commpass
