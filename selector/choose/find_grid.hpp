// Patterns that turn out to be the same neighbourhood on every rank of a grid.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/machine/layout.hpp"
#include "model/pattern/neighborhood.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// The offsets that all ranks send to on a grid, but for those beyond an edge (Cartesian paper §2.2); nothing if they
/// differ, or no rank has all. Sizes of blocks count nowhere.
std::optional<Neighborhood> neighborhood_on(const Grid& grid, const Pattern& pattern);

/// The same on `known`, if that is given and ranks have the same offsets there; else on the grid of up to 5 dimensions,
/// each periodic or not, on which message combining sends the fewest messages. Nothing where it would send as many as
/// without, and for all-to-alls, whose ranks need no grid.
std::optional<Neighborhood> find_neighborhood(const Pattern& pattern, const std::optional<Grid>& known = {});

/// What the grid of a neighbourhood suggests that has a price, on each path where the data may be (offered_paths) and
/// one process copies.
std::vector<Strategy> offered_on_grid(const Neighborhood& neighborhood, const Layout& layout, const Machine& machine,
                                      CostModel model, std::span<const DataPath> paths = host_paths);

/// offered_strategies, and what the grid suggests if there is one (find_neighborhood).
std::vector<Strategy> strategies_for(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                     CostModel model, const std::optional<Grid>& known = {},
                                     std::span<const DataPath> paths = host_paths);

}  // namespace commpass
