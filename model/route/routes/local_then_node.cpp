// local-then-node: within the source's node to the rank with the destination's local rank, then across the network.
#include "model/route/routes/node_digits.hpp"

namespace commpass {

CatalogueRow local_then_node_row() {
  return {.name = "local-then-node",
          .usage = "local-then-node[,local=K1xK2...][,node=K1xK2...][,window=W][,staggered]",
          .summary = "within the node to the rank with the destination's local rank, then to the destination's node",
          .source = "TuNA paper §IV, hierarchical and coalesced, with one local digit",
          .parameters = node_digit_parameters(),
          .default_window = {},
          .inapplicable = node_digits_inapplicable,
          .make = [](const Strategy& strategy, const Layout& layout,
                     const PatternTables&) { return make_node_digits_route(strategy, layout, First::local); },
          .suggest = [](const Layout& layout) { return suggest_node_digits("local-then-node", layout); },
          .vary = [](const Strategy& strategy,
                     const Layout& layout) { return vary_node_digits(strategy, layout, "two-step"); }};
}

}  // namespace commpass
