#include "runtime/choose/gather_pattern.hpp"

#include <fmt/core.h>

#include <limits>
#include <numeric>
#include <vector>

#include "model/route/catalogue.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

Pattern gather_pattern(MPI_Comm comm, std::span<const SendEdge> sends) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  std::vector<int> destinations;
  std::vector<std::int64_t> sizes;
  std::vector<Payload> payloads;
  std::int64_t mine = 0, total = 0;
  all_or_none(comm, [&] {
    for (const auto& edge : sends) {
      destinations.push_back(edge.destination);
      sizes.push_back(edge.bytes);
    }
    payloads = payloads_of(sends);
    mine = std::ssize(sends);
  });
  COMMPASS_MPI_CALL(MPI_Allreduce, &mine, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  if (total > std::numeric_limits<int>::max())
    throw InputError("exchange", fmt::format("{} edges are more than rank 0 can gather", total),
                     "name another strategy");

  const int count = static_cast<int>(mine);
  std::vector<int> counts(rank == 0 ? static_cast<std::size_t>(ranks) : 0), offsets(counts.size());
  COMMPASS_MPI_CALL(MPI_Gather, &count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  const auto room = rank == 0 ? static_cast<std::size_t>(total) : 0;
  std::vector<int> all_destinations(room);
  std::vector<std::int64_t> all_sizes(room);
  std::vector<Payload> all_payloads(room);
  COMMPASS_MPI_CALL(MPI_Gatherv, destinations.data(), count, MPI_INT, all_destinations.data(), counts.data(),
                    offsets.data(), MPI_INT, 0, comm);
  COMMPASS_MPI_CALL(MPI_Gatherv, sizes.data(), count, MPI_INT64_T, all_sizes.data(), counts.data(), offsets.data(),
                    MPI_INT64_T, 0, comm);
  COMMPASS_MPI_CALL(MPI_Gatherv, payloads.data(), count, MPI_INT32_T, all_payloads.data(), counts.data(),
                    offsets.data(), MPI_INT32_T, 0, comm);

  Pattern pattern{ranks, {}};
  pattern.edges.reserve(room);
  all_or_none(comm, [&] {
    for (std::size_t source = 0; source < counts.size(); ++source)
      for (int i = 0; i < counts[source]; ++i) {
        const auto edge = static_cast<std::size_t>(offsets[source] + i);
        pattern.edges.push_back(
            {static_cast<Rank>(source), all_destinations[edge], all_sizes[edge], all_payloads[edge]});
      }
    pattern.validate("exchange");
  });
  return pattern;
}

void share_pattern(MPI_Comm comm, Pattern& pattern) {
  std::int64_t count = std::ssize(pattern.edges);
  COMMPASS_MPI_CALL(MPI_Bcast, &pattern.ranks, 1, MPI_INT, 0, comm);
  COMMPASS_MPI_CALL(MPI_Bcast, &count, 1, MPI_INT64_T, 0, comm);
  all_or_none(comm, [&] {
    if (count > std::numeric_limits<int>::max())
      throw InputError("pattern", fmt::format("it has {} edges", count), "use one of at most 2^31");
    pattern.edges.resize(static_cast<std::size_t>(count));
  });
  MPI_Datatype edge = MPI_DATATYPE_NULL;
  COMMPASS_MPI_CALL(MPI_Type_contiguous, sizeof(Edge), MPI_BYTE, &edge);
  COMMPASS_MPI_CALL(MPI_Type_commit, &edge);
  COMMPASS_MPI_CALL(MPI_Bcast, pattern.edges.data(), static_cast<int>(count), edge, 0, comm);
  COMMPASS_MPI_CALL(MPI_Type_free, &edge);
}

namespace {

/// The edges that move bytes to ranks that are there.
std::vector<SendEdge> edges_in_range(std::span<const SendEdge> sends, int ranks) {
  std::vector<SendEdge> result;
  for (const auto& edge : sends)
    if (edge.bytes > 0 && edge.destination >= 0 && edge.destination < ranks) result.push_back(edge);
  return result;
}

/// One edge for each node is enough, to any of its ranks: that is less to gather. Repetitions on its way there
/// do not count.
std::vector<SendEdge> edges_to_nodes(Rank rank, std::span<const SendEdge> sends, const Layout& layout) {
  Pattern mine{layout.ranks(), {}};
  const auto payloads = payloads_of(sends);
  for (std::size_t i = 0; i < sends.size(); ++i)
    mine.edges.push_back({rank, sends[i].destination, sends[i].bytes, payloads[i]});
  std::vector<SendEdge> result;
  Bytes offset = 0;  // different ones, so that no two are taken for the same bytes
  for (const auto& entry : node_traffic(mine, layout).entries) {
    result.push_back({layout.ranks_of(entry.node).front(), offset, entry.bytes});
    offset += entry.bytes;
  }
  return result;
}

/// A list of rank 0 on every rank.
template <class Item>
void broadcast_items(MPI_Comm comm, std::vector<Item>& items) {
  int count = 0;
  all_or_none(comm, [&] {
    if (items.size() > std::numeric_limits<int>::max() / sizeof(Item))
      throw InputError("exchange", fmt::format("{} entries are too much for the tables of a route", items.size()),
                       "name another strategy");
    count = static_cast<int>(items.size());
  });
  COMMPASS_MPI_CALL(MPI_Bcast, &count, 1, MPI_INT, 0, comm);
  all_or_none(comm, [&] { items.resize(static_cast<std::size_t>(count)); });
  COMMPASS_MPI_CALL(MPI_Bcast, items.data(), count * static_cast<int>(sizeof(Item)), MPI_BYTE, 0, comm);
}

}  // namespace

PatternTables share_tables(MPI_Comm comm, const Strategy& strategy, const Layout& layout,
                           std::span<const SendEdge> sends) {
  const auto need = pattern_need(strategy);
  if (need == PatternNeed::nothing) return {};
  const Rank rank = rank_in(comm);
  std::vector<SendEdge> edges;
  all_or_none(comm, [&] {
    edges = edges_in_range(sends, layout.ranks());
    if (need == PatternNeed::node_traffic) edges = edges_to_nodes(rank, edges, layout);
  });
  const auto pattern = gather_pattern(comm, edges);
  PatternTables tables;
  all_or_none(comm, [&] {
    if (rank == 0) tables = make_tables(strategy, layout, pattern);
  });
  broadcast_items(comm, tables.traffic.entries);
  broadcast_items(comm, tables.positions);
  return tables;
}

}  // namespace commpass
