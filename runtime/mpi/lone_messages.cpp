#include "runtime/mpi/lone_messages.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

constexpr int tag = 0;

void ping(MPI_Comm comm, Rank peer, bool begins) {
  std::array<char, pace_bytes> bytes{};
  const auto count = static_cast<int>(bytes.size());
  if (begins) COMMPASS_MPI_CALL(MPI_Send, bytes.data(), count, MPI_BYTE, peer, tag, comm);
  COMMPASS_MPI_CALL(MPI_Recv, bytes.data(), count, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
  if (!begins) COMMPASS_MPI_CALL(MPI_Send, bytes.data(), count, MPI_BYTE, peer, tag, comm);
}

/// The least of some times, each of some round trips: what else runs makes none shorter.
Seconds one_way(MPI_Comm comm, Rank peer, bool begins) {
  constexpr int times = 12, trips = 20;
  auto least = std::numeric_limits<Seconds>::infinity();
  for (int time = 0; time < times; ++time) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < trips; ++i) ping(comm, peer, begins);
    least = std::min(least, (MPI_Wtime() - begin) / 2 / trips);
  }
  return least;
}

}  // namespace

std::vector<Pace> time_lone_messages(MPI_Comm comm, const Layout& layout) {
  const Rank rank = rank_in(comm);
  std::vector<Pace> paces;
  for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
    Rank peer = 1;
    while (peer < layout.ranks() && layout.locality(0, peer) != locality) ++peer;
    if (peer == layout.ranks()) continue;
    Pace pace{locality, 0};
    if (rank == 0) pace.seconds = one_way(comm, peer, true);
    else if (rank == peer) one_way(comm, 0, false);
    COMMPASS_MPI_CALL(MPI_Bcast, &pace.seconds, 1, MPI_DOUBLE, 0, comm);
    paces.push_back(pace);
  }
  return paces;
}

}  // namespace commpass
