// The strategy nearest to a named one that a layout allows: names from the environment are for programs whose
// communicators differ in size.
#pragma once

#include <optional>

#include "model/machine/layout.hpp"
#include "model/route/sparse_strategy.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// The strategy itself if it applies; else the same route with the largest smaller number (radix, n) that does, without
/// dimensions that do not fit, or with as many as apply. Depends on nothing but the arguments. @return nothing if no
/// strategy of its route applies
std::optional<Strategy> nearest_applicable(const Strategy& strategy, const Layout& layout);

/// The same for the route of a sparse exchange, with the same discovery.
std::optional<SparseStrategy> nearest_applicable(const SparseStrategy& strategy, const Layout& layout);

}  // namespace commpass
