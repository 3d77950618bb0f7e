#include "runtime/gather_pattern.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <vector>

#include "runtime/agreement.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/payloads.hpp"

namespace commpass {

Pattern gather_pattern(MPI_Comm comm, std::span<const SendEdge> sends) {
  int rank = 0, ranks = 0;
  COMMPASS_MPI_CALL(MPI_Comm_rank, comm, &rank);
  COMMPASS_MPI_CALL(MPI_Comm_size, comm, &ranks);
  std::vector<int> destinations;
  std::vector<std::int64_t> sizes;
  std::vector<Payload> payloads;
  std::int64_t mine = 0, total = 0;
  together(comm, [&] {
    for (const auto& edge : sends) {
      destinations.push_back(edge.destination);
      sizes.push_back(edge.bytes);
    }
    payloads = payloads_of(sends);
    mine = std::ssize(sends);
  });
  COMMPASS_MPI_CALL(MPI_Allreduce, &mine, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  if (total > std::numeric_limits<int>::max())
    throw InputError("exchange", fmt::format("{} edges are more than can be gathered to select a strategy", total), "name a strategy");

  const int count = static_cast<int>(mine);
  std::vector<int> counts(rank == 0 ? static_cast<std::size_t>(ranks) : 0), offsets(counts.size());
  COMMPASS_MPI_CALL(MPI_Gather, &count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  const auto room = rank == 0 ? static_cast<std::size_t>(total) : 0;
  std::vector<int> all_destinations(room);
  std::vector<std::int64_t> all_sizes(room);
  std::vector<Payload> all_payloads(room);
  COMMPASS_MPI_CALL(MPI_Gatherv, destinations.data(), count, MPI_INT, all_destinations.data(), counts.data(), offsets.data(), MPI_INT, 0, comm);
  COMMPASS_MPI_CALL(MPI_Gatherv, sizes.data(), count, MPI_INT64_T, all_sizes.data(), counts.data(), offsets.data(), MPI_INT64_T, 0, comm);
  COMMPASS_MPI_CALL(MPI_Gatherv, payloads.data(), count, MPI_INT32_T, all_payloads.data(), counts.data(), offsets.data(), MPI_INT32_T, 0, comm);

  Pattern pattern{ranks, {}};
  pattern.edges.reserve(room);
  together(comm, [&] {
    for (std::size_t source = 0; source < counts.size(); ++source)
      for (int i = 0; i < counts[source]; ++i) {
        const auto edge = static_cast<std::size_t>(offsets[source] + i);
        pattern.edges.push_back({static_cast<Rank>(source), all_destinations[edge], all_sizes[edge], all_payloads[edge]});
      }
    pattern.validate("exchange");
  });
  return pattern;
}

NodeTraffic share_node_traffic(MPI_Comm comm, const Layout& layout, std::span<const SendEdge> sends) {
  // One edge for each node is enough, to any of its ranks: that is less to gather.
  std::vector<SendEdge> to_nodes;
  Rank rank = 0;
  COMMPASS_MPI_CALL(MPI_Comm_rank, comm, &rank);
  together(comm, [&] {
    Pattern mine{layout.ranks(), {}};
    const auto payloads = payloads_of(sends);
    for (std::size_t i = 0; i < sends.size(); ++i)
      if (const auto& [destination, offset, bytes] = sends[i]; destination >= 0 && destination < layout.ranks()) mine.edges.push_back({rank, destination, bytes, payloads[i]});
    for (const auto& entry : node_traffic(mine, layout).entries) to_nodes.push_back({layout.ranks_of(entry.node).front(), 0, entry.bytes});
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
