// two-step: to the rank with the same local rank on the destination's node, then to the destination.
#include "model/route/routes/node_digits.hpp"

namespace commpass {

CatalogueRow two_step_row() {
  return {.name = "two-step",
          .usage = "two-step[,local=K1xK2...][,node=K1xK2...][,window=W][,staggered]",
          .summary = "to the partner with the same local rank on the destination's node, then within that node",
          .source = "node-aware paper (Lockhart, Bienz, Gropp, Olson) §2.3.2",
          .parameters = node_digit_parameters(),
          .default_window = {},
          .inapplicable = node_digits_inapplicable,
          .make = [](const Strategy& strategy, const Layout& layout,
                     const PatternTables&) { return make_node_digits_route(strategy, layout, First::node); },
          .suggest = [](const Layout& layout) { return suggest_node_digits("two-step", layout); },
          .vary = [](const Strategy& strategy,
                     const Layout& layout) { return vary_node_digits(strategy, layout, "local-then-node"); }};
}

}  // namespace commpass
