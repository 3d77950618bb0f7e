#include "runtime/mpi/messages_in_flight.hpp"

#include <algorithm>
#include <cstddef>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// The peer of a rank in the i-th message: all ranks of the next node in turn, then of the node after it. Sends and
/// receives have opposite directions, so that every message has its receive.
Rank peer_of(const Layout& layout, int node_ranks_min, Rank rank, int message, int direction) {
  const int nodes = layout.nodes();
  const int node_steps = 1 + message / node_ranks_min % (nodes - 1), local_steps = message % node_ranks_min;
  const int node = (layout.node(rank) + direction * node_steps + nodes) % nodes;
  const int local = (layout.local(rank) + direction * local_steps + node_ranks_min) % node_ranks_min;
  return layout.ranks_of(node)[static_cast<std::size_t>(local)];
}

}  // namespace

std::vector<Seconds> time_messages_in_flight(MPI_Comm comm, const Layout& layout, int messages, int exchanges) {
  int node_ranks_min = layout.max_ppn();
  for (int node = 0; node < layout.nodes(); ++node) node_ranks_min = std::min(node_ranks_min, layout.ppn(node));
  const Rank rank = rank_in(comm);
  const bool takes_part = layout.local(rank) < node_ranks_min;
  const auto count = takes_part ? static_cast<std::size_t>(messages) : 0;
  constexpr int tag = 1;
  std::vector<double> sent(count, 1), received(count);
  std::vector<MPI_Request> requests(2 * count);
  std::vector<Seconds> seconds;
  constexpr Seconds total_max_s = 0.5;  // each lost message takes a timeout
  constexpr int exchanges_min = 5;
  Seconds sum_s = 0;
  for (int exchange = 0; exchange < exchanges && (sum_s < total_max_s || exchange < exchanges_min); ++exchange) {
    COMMPASS_MPI_CALL(MPI_Barrier, comm);
    const double begin = MPI_Wtime();
    for (std::size_t i = 0; i < count; ++i)
      COMMPASS_MPI_CALL(MPI_Irecv, &received[i], 1, MPI_DOUBLE,
                        peer_of(layout, node_ranks_min, rank, static_cast<int>(i), -1), tag, comm, &requests[i]);
    for (std::size_t i = 0; i < count; ++i)
      COMMPASS_MPI_CALL(MPI_Isend, &sent[i], 1, MPI_DOUBLE,
                        peer_of(layout, node_ranks_min, rank, static_cast<int>(i), 1), tag, comm, &requests[count + i]);
    COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    seconds.push_back(MPI_Wtime() - begin);
    COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &seconds.back(), 1, MPI_DOUBLE, MPI_MAX, comm);
    sum_s += seconds.back();
  }
  return seconds;
}

}  // namespace commpass
