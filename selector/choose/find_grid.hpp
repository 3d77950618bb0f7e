// Patterns that turn out to be the same neighbourhood on every rank of a grid.
#pragma once

#include <optional>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/machine/layout.hpp"
#include "model/pattern/neighborhood.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// The offsets that all ranks send to on a grid, but for those beyond an edge (Cartesian paper §2.2); nothing if they
/// differ, or no rank has all. Sizes of blocks count nowhere.
std::optional<Neighborhood> neighborhood_on(const Grid& grid, const Pattern& pattern);

/// The same on `known`, if that is given and ranks have the same offsets there; else on the grid of up to 5 dimensions,
/// each periodic or not, on which message combining sends the fewest messages. Nothing where it would send as many as
/// without, and for all-to-alls, whose ranks need no grid.
std::optional<Neighborhood> find_neighborhood(const Pattern& pattern, const std::optional<Grid>& known = {});

/// offered_strategies, and what the grid suggests if there is one (find_neighborhood).
std::vector<Strategy> strategies_for(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                     CostModel model, const std::optional<Grid>& known = {});

}  // namespace commpass
