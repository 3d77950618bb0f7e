// The pattern of an exchange, on the ranks that price strategies; and the part of it that all ranks have to know.
#pragma once

#include <mpi.h>

#include <span>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"
#include "model/pattern/pattern_tables.hpp"
#include "model/route/strategy.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// Gathers the send edges of all ranks on rank 0; other ranks get a pattern without edges. Collective.
/// @throws Error, the same on every rank, if there are more than 2^31 edges or an edge is out of range
Pattern gather_pattern(MPI_Comm comm, std::span<const SendEdge> sends);

/// Gives the pattern of rank 0 to all ranks. Collective.
/// @throws Error, the same on every rank, if it has more than 2^31 edges
void share_pattern(MPI_Comm comm, Pattern& pattern);

/// The tables of a strategy's route, on every rank: rank 0 gathers the part of the pattern that they need, makes and
/// broadcasts them. Collective. Edges that are out of range do not count: planning refuses them.
/// @param strategy  the same on every rank
/// @throws Error, the same on every rank, if they are too large to be broadcast; NotApplicable
PatternTables share_tables(MPI_Comm comm, const Strategy& strategy, const Layout& layout,
                           std::span<const SendEdge> sends);

}  // namespace commpass
