// The layout: which rank sits on which node and socket, and which ranks `placed` moved.
#pragma once

#include <span>

#include "model/machine/layout.hpp"
#include "pictures/picture.hpp"

namespace commpass {

inline constexpr int most_drawn_ranks = 4096;

/// A box for each node, a square for each rank; nodes of a group together, where there are groups.
/// @throws InputError for more than most_drawn_ranks
Picture draw_layout(const Layout& layout, std::span<const Rank> positions, const std::string& id = "layout");

}  // namespace commpass
