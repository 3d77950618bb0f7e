// Levels of layouts that this process has detected: detection reads thousands of files of the system, and a program may
// make many communicators of the same ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/machine/layout.hpp"

namespace commpass {

/// Innermost first.
using Levels = std::vector<Layout::LevelIds>;

/// The levels of ranks that all belong to one communicator whose levels are known; nothing if there is none. Local.
/// @param world_ranks  ranks in MPI_COMM_WORLD
/// @throws std::bad_alloc
std::optional<Levels> find_known_levels(std::span<const int> world_ranks);

/// Keeps the levels of the latest 8 communicators. Local. @throws std::bad_alloc
void remember_levels(std::span<const int> world_ranks, const Levels& levels);

}  // namespace commpass
