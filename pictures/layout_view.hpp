// The layout: the node and the socket of each rank, and the ranks that `placed` moves.
#pragma once

#include <span>

#include "model/machine/layout.hpp"
#include "pictures/picture.hpp"

namespace commpass {

inline constexpr int drawn_ranks_max = 4096;

/// A box for each node and a square for each rank, by groups if there are several.
/// @throws InputError for more than drawn_ranks_max
Picture draw_layout(const Layout& layout, std::span<const Rank> positions, const std::string& id = "layout");

}  // namespace commpass
