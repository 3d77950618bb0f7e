// The edges of one rank in an exchange of a pattern, with buffers for them.
#pragma once

#include <cstddef>
#include <vector>

#include "model/pattern/pattern.hpp"
#include "runtime/edges.hpp"

namespace commpass {

/// The edges of one rank and their buffers, in rank order without gaps. Edges of one payload share their place in the
/// send buffer.
struct RankData {
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  std::vector<std::size_t> sent, received;  ///< number of the contents of each edge; equal numbers: the same bytes
  std::vector<std::byte> send_buffer, receive_buffer;
};

/// The part of `pattern` that is `rank`'s; the buffers hold zeros.
RankData data_of(const Pattern& pattern, Rank rank);

/// The counts and displacements of one side of MPI_Alltoallv, in bytes.
struct AlltoallvSide {
  std::vector<int> counts, displacements;

  /// @param edges  to different ranks, of less than 2^31 bytes in all
  /// @param peer   the member with their other end
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
