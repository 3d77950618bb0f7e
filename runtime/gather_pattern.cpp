#include "runtime/gather_pattern.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "runtime/agreement.hpp"
#include "runtime/mpi_error.hpp"

namespace commpass {

Pattern gather_pattern(MPI_Comm comm, std::span<const SendEdge> sends) {
  int rank = 0, ranks = 0;
  COMMPASS_MPI_CALL(MPI_Comm_rank, comm, &rank);
  COMMPASS_MPI_CALL(MPI_Comm_size, comm, &ranks);
  std::vector<int> destinations;
  std::vector<std::int64_t> sizes;
  std::int64_t mine = 0, total = 0;
  together(comm, [&] {
    for (const auto& edge : sends) {
      destinations.push_back(edge.destination);
      sizes.push_back(edge.bytes);
    }
    mine = std::ssize(sends);
  });
  COMMPASS_MPI_CALL(MPI_Allreduce, &mine, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  if (total > std::numeric_limits<int>::max())
    throw InputError("exchange", fmt::format("{} edges are more than rank 0 can gather", total), "name another strategy");

  const int count = static_cast<int>(mine);
  std::vector<int> counts(rank == 0 ? static_cast<std::size_t>(ranks) : 0), offsets(counts.size());
  COMMPASS_MPI_CALL(MPI_Gather, &count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  const auto room = rank == 0 ? static_cast<std::size_t>(total) : 0;
  std::vector<int> all_destinations(room);
  std::vector<std::int64_t> all_sizes(room);
  COMMPASS_MPI_CALL(MPI_Gatherv, destinations.data(), count, MPI_INT, all_destinations.data(), counts.data(), offsets.data(), MPI_INT, 0, comm);
  COMMPASS_MPI_CALL(MPI_Gatherv, sizes.data(), count, MPI_INT64_T, all_sizes.data(), counts.data(), offsets.data(), MPI_INT64_T, 0, comm);

  Pattern pattern{ranks, {}};
  pattern.edges.reserve(room);
  together(comm, [&] {
    for (std::size_t source = 0; source < counts.size(); ++source)
      for (int i = 0; i < counts[source]; ++i) {
        const auto edge = static_cast<std::size_t>(offsets[source] + i);
        pattern.edges.push_back({static_cast<Rank>(source), all_destinations[edge], all_sizes[edge]});
      }
    pattern.validate("exchange");
  });
  return pattern;
}

void share_pattern(MPI_Comm comm, Pattern& pattern) {
  std::int64_t count = std::ssize(pattern.edges);
  COMMPASS_MPI_CALL(MPI_Bcast, &pattern.ranks, 1, MPI_INT, 0, comm);
  COMMPASS_MPI_CALL(MPI_Bcast, &count, 1, MPI_INT64_T, 0, comm);
  together(comm, [&] {
    if (count > std::numeric_limits<int>::max()) throw InputError("pattern", fmt::format("it has {} edges", count), "use one of at most 2^31");
    pattern.edges.resize(static_cast<std::size_t>(count));
  });
  MPI_Datatype edge = MPI_DATATYPE_NULL;
  COMMPASS_MPI_CALL(MPI_Type_contiguous, sizeof(Edge), MPI_BYTE, &edge);
  COMMPASS_MPI_CALL(MPI_Type_commit, &edge);
  COMMPASS_MPI_CALL(MPI_Bcast, pattern.edges.data(), static_cast<int>(count), edge, 0, comm);
  COMMPASS_MPI_CALL(MPI_Type_free, &edge);
}

NodeTraffic share_node_traffic(MPI_Comm comm, const Layout& layout, std::span<const SendEdge> sends) {
  // One edge for each node is enough, to any of its ranks: that is less to gather.
  std::vector<SendEdge> to_nodes;
  together(comm, [&] {
    std::map<int, Bytes> bytes_to;
    for (const auto& edge : sends)
      if (edge.bytes > 0 && edge.destination >= 0 && edge.destination < layout.ranks()) bytes_to[layout.node(edge.destination)] += edge.bytes;
    for (const auto& [node, bytes] : bytes_to) to_nodes.push_back({layout.ranks_of(node).front(), 0, bytes});
  });
  const auto pattern = gather_pattern(comm, to_nodes);
  using Entry = NodeTraffic::Entry;
  NodeTraffic traffic;
  together(comm, [&] {
    traffic = node_traffic(pattern, layout);
    if (traffic.entries.size() > std::numeric_limits<int>::max() / sizeof(Entry))
      throw InputError("exchange", fmt::format("ranks send to {} nodes in all, which is too much for routes with relays", traffic.entries.size()), "name another strategy");
  });
  int count = static_cast<int>(traffic.entries.size());
  COMMPASS_MPI_CALL(MPI_Bcast, &count, 1, MPI_INT, 0, comm);
  traffic.entries.resize(static_cast<std::size_t>(count));
  COMMPASS_MPI_CALL(MPI_Bcast, traffic.entries.data(), count * static_cast<int>(sizeof(Entry)), MPI_BYTE, 0, comm);
  return traffic;
}

}  // namespace commpass
