// The messages of one stage as one rank sees them: those that it sends, and those that come.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "model/route/route.hpp"
#include "model/route/strategy.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// The blocks that a message brings, in its order.
struct Incoming {
  Rank from = 0;
  int round = 0;
  int batch = 0;
  std::vector<Block> blocks;
};

struct StageMessages {
  Departures departures;
  std::vector<Incoming> incoming;  ///< by batch, round and sender; of one sender in the order in which it sends
};

/// Finds the messages of a stage: those that leave follow from the blocks that are held here; headers tell their
/// receivers. Collective over `comm`, which must not be used by others meanwhile; needs an int for every rank.
/// @param held  the blocks on this rank, sorted as sort_blocks does
/// @throws Error, the same on every rank
StageMessages exchange_headers(MPI_Comm comm, const Route& route, int stage, Window window, Coalescing coalescing,
                               std::span<const Block> held);

}  // namespace commpass
