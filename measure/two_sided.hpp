// Sparse dynamic data exchanges as applications write them by hand: PETSc's BuildTwoSided algorithms, to compare with.
// What was found is received without blocking, which PETSc does in part: where a message waits for its receive, they
// would be slower.
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

/// A reduce-scatter of one count for each rank, then plain sends and blocking probes: `-build_twosided redscatter`,
/// which does what `allreduce` does with half of its bytes.
/// @param tag  another one in each call
TwoSidedMessages build_two_sided_by_reduction(MPI_Comm comm, int tag, const std::byte* buffer,
                                              std::span<const SendEdge> sends);

/// Synchronous sends, and a non-blocking barrier that a rank enters when its sends are complete: `-build_twosided
/// ibarrier`.
/// @param tag  another one in each call
TwoSidedMessages build_two_sided_by_barrier(MPI_Comm comm, int tag, const std::byte* buffer,
                                            std::span<const SendEdge> sends);

}  // namespace commpass
