// What one rank sends and receives in an exchange of a pattern, with buffers for it.
#pragma once

#include <cstddef>
#include <vector>

#include "model/pattern/pattern.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// The edges of one rank and their buffers, in rank order without gaps. Edges of one payload share their place in the
/// send buffer.
struct RankData {
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  std::vector<std::size_t> sent, received;  ///< by edge, which bytes it has; equal numbers of a rank: the same bytes
  std::vector<std::byte> send_buffer, receive_buffer;
};

/// The part of `pattern` that is `rank`'s; the buffers hold zeros.
RankData data_of(const Pattern& pattern, Rank rank);

/// One side of MPI_Alltoallv, in bytes: what comes from each rank, or goes there, and where it lies.
struct AlltoallvSide {
  std::vector<int> counts, displacements;

  /// @param edges  to different ranks, of less than 2^31 bytes in all
  /// @param peer   the member that is their other end
  template <class Edge>
  AlltoallvSide(int ranks, const std::vector<Edge>& edges, Rank Edge::*peer)
      : counts(static_cast<std::size_t>(ranks)), displacements(counts.size()) {
    for (const auto& edge : edges) {
      const auto rank = static_cast<std::size_t>(edge.*peer);
      counts[rank] = static_cast<int>(edge.bytes);
      displacements[rank] = static_cast<int>(edge.offset);
    }
  }
};

}  // namespace commpass
