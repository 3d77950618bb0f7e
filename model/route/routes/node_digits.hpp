// What two-step and local-then-node share: the digits of (node, local), which may be cut further.
#pragma once

#include "model/route/catalogue.hpp"

namespace commpass {

/// The route of this name, and the same with the digit of the node cut where groups begin: between these then goes one
/// message of a rank for each. None where each node has one rank, or there is one node.
std::vector<Strategy> suggest_node_digits(const std::string& route, const Layout& layout);

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
