// Strategies at random, of all that apply to a layout.
#pragma once

#include <string>

#include "model/machine/layout.hpp"
#include "runtime/random/draw.hpp"
#include "runtime/random/switches.hpp"

namespace commpass::random_test {

enum class Use { planned, on_grid, one_shot, sparse };

/// The name of a strategy; empty, if it is to be chosen.
std::string draw_strategy(Draw& draw, const Switches& switches, const Layout& layout, Use use);

/// A random strategy of a sparse exchange.
/// @param constant  do all messages have the same size?
/// @param slots     may it be direct+rma?
std::string draw_sparse_strategy(Draw& draw, const Switches& switches, const Layout& layout, bool constant, bool slots);

/// Sizes of blocks: mostly small, some of nothing, some that are sent by rendezvous.
Bytes draw_bytes(Draw& draw);

}  // namespace commpass::random_test
