// What two-step and local-then-node share: the digits of (node, local), which may be cut further.
#pragma once

#include "model/route/catalogue.hpp"

namespace commpass {

enum class First { node, local };

/// local=K1xK2… and node=K1xK2…: into which digits the local rank and the node are cut, lowest first; absent: one each.
std::vector<Parameter> node_digit_parameters();

/// The reason why the sizes of a strategy do not fit a layout, or empty.
std::string node_digits_inapplicable(const Strategy& strategy, const Layout& layout);

std::unique_ptr<Route> make_node_digits_route(const Strategy& strategy, const Layout& layout, First first);

/// The strategy with its local or node digits cut a little differently, and with the other order.
/// @param other  the name of the route that begins with the other digits
std::vector<Strategy> vary_node_digits(const Strategy& strategy, const Layout& layout, const char* other);

}  // namespace commpass
