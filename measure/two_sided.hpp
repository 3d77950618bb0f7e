// Baselines of sparse dynamic data exchanges: PETSc's BuildTwoSided algorithms, as applications write them by hand.
// Receives of probed messages do not block. PETSc blocks in some of them, which slows rendezvous messages down.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "runtime/plan/plan.hpp"

namespace commpass {

/// Source and bytes of every message for this rank, in order of arrival.
using TwoSidedMessages = std::vector<std::pair<Rank, std::vector<std::byte>>>;

/// `-build_twosided redscatter`: a reduce-scatter of one count for each rank, then plain sends and blocking probes. It
/// moves half of the bytes of the discovery `allreduce`.
/// @param tag  a new one in each call
TwoSidedMessages build_two_sided_by_reduction(MPI_Comm comm, int tag, const std::byte* buffer,
                                              std::span<const SendEdge> sends);

/// `-build_twosided ibarrier`: synchronous sends, and a non-blocking barrier that a rank enters when its sends
/// complete.
/// @param tag  a new one in each call
TwoSidedMessages build_two_sided_by_barrier(MPI_Comm comm, int tag, const std::byte* buffer,
                                            std::span<const SendEdge> sends);

}  // namespace commpass
