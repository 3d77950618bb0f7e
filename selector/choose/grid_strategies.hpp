// The strategies that a grid of ranks adds to those that a layout has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/neighborhood.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// The sizes of the blocks of a grid, if every node has one of them, and several ranks and nodes there are; else
/// nothing.
std::optional<std::vector<int>> node_blocks(const Grid& grid, const Layout& layout);
/// The block of grid positions of each socket; nothing, too, where nodes have one socket each.
std::optional<std::vector<int>> socket_blocks(const Grid& grid, const Layout& layout);

/// Message combining, dimension after dimension in order of increasing C_k (Cartesian paper §3.2).
Strategy combining_strategy(const Neighborhood& neighborhood);

/// That first, then every way in which dimensions next to each other in that order share a stage, up to but not with
/// all of them (which is standard), then ways by nodes and within nodes, where nodes are blocks of the grid, and the
/// same with sockets.
std::vector<Strategy> suggest_on_grid(const Neighborhood& neighborhood, const Layout& layout);

/// Can every rank of a grid plan it without being told anything? So it is with messages that are coalesced on a way of
/// the grid: cartesian, and standard without a window.
bool is_way_on_grid(const Strategy& strategy);

/// The text of a strategy with what the grid tells: "trivial" is standard, "cartesian" without dims the combining
/// strategy. Other texts stay.
std::string on_grid(const std::string& text, const Neighborhood& neighborhood);

}  // namespace commpass
