// Test data of measurements: bytes that differ between edges and positions.
#pragma once

#include <string>

#include "model/pattern/pattern.hpp"
#include "runtime/mpi/rank_data.hpp"
#include "selector/commands/arguments.hpp"

namespace commpass {

/// Reads the pattern on rank 0 and shares it with all ranks. Collective on MPI_COMM_WORLD.
/// @throws InputError, the same on every rank
Pattern read_together(const PatternArguments& arguments, Rank rank, int ranks);

/// Fills the send buffer of a rank.
void fill(RankData& data);

/// Checks every byte of the receive buffer.
/// @return a sentence about the first wrong byte; empty: all are right
std::string verify(const RankData& data, Rank rank, const std::string& strategy);

}  // namespace commpass
