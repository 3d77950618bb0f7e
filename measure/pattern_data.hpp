// What the ranks of a measurement send to each other: bytes by which every mistake shows.
#pragma once

#include <string>

#include "model/pattern/pattern.hpp"
#include "runtime/mpi/rank_data.hpp"
#include "selector/commands/arguments.hpp"

namespace commpass {

/// The pattern that rank 0 reads, on every rank. Collective on MPI_COMM_WORLD.
/// @throws InputError, the same on every rank
Pattern read_together(const PatternArguments& arguments, Rank rank, int ranks);

/// Writes what a rank sends into its send buffer.
void fill(RankData& data);

/// Is in the receive buffer what must be there?
/// @return a sentence about the first wrong byte, or nothing
std::string verify(const RankData& data, Rank rank, const std::string& strategy);

}  // namespace commpass
