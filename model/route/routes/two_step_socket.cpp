// two-step-socket: as two-step, with sockets in the place of nodes.
#include <vector>

#include "model/route/routes/node_digits.hpp"

namespace commpass {

namespace {
namespace two_step_socket {

/// Sockets, as if each were a node.
Layout by_socket(const Layout& layout) {
  std::vector<int> socket_of;
  socket_of.reserve(static_cast<std::size_t>(layout.ranks()));
  for (Rank rank = 0; rank < layout.ranks(); ++rank) socket_of.push_back(layout.socket(rank));
  return Layout(socket_of);
}

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables&) {
  return make_node_digits_route(strategy, by_socket(layout), First::node);
}

std::vector<Strategy> suggest(const Layout& layout) {
  if (layout.sockets() == layout.nodes() || layout.sockets() == layout.ranks())
    return {};  // the same as two-step or standard
  return {{"two-step-socket", {}, {}}};
}

}  // namespace two_step_socket
}  // namespace

CatalogueRow two_step_socket_row() {
  using namespace two_step_socket;
  return {.name = "two-step-socket",
          .usage = "two-step-socket[,window=W][,staggered]",
          .summary = "to the partner with the same position on the destination's socket, then within that socket",
          .source = "sparse dynamic data exchange paper (Geyko et al.) §IV-D, with sockets as regions",
          .parameters = {},
          .default_window = {},
          .make = make,
          .suggest = suggest};
}

}  // namespace commpass
