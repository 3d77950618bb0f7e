#include "runtime/mpi/lone_messages.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

constexpr int tag = 0;

using PaceMessage = std::array<char, pace_bytes>;

void send_pace(PaceMessage& message, Rank peer, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Send, message.data(), static_cast<int>(message.size()), MPI_BYTE, peer, tag, comm);
}
void receive_pace(PaceMessage& message, Rank peer, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Recv, message.data(), static_cast<int>(message.size()), MPI_BYTE, peer, tag, comm,
                    MPI_STATUS_IGNORE);
}

/// The first byte of a message says whether it is the last one.
constexpr char last_ping = 1;

/// The least of some times, each of some round trips: what else runs makes none shorter. Where ranks wait for a
/// processor, a round trip takes milliseconds, and few must do.
Seconds begin_pings(MPI_Comm comm, Rank peer) {
  constexpr int times = 12, trips = 20;
  constexpr Seconds longest_s = 0.02;
  auto least = std::numeric_limits<Seconds>::infinity();
  const double end = MPI_Wtime() + longest_s;
  bool is_over = false;
  for (int time = 0; time < times && !is_over; ++time) {
    const double begin = MPI_Wtime();
    int done = 0;
    double now = begin;
    while (done < trips && !is_over) {
      PaceMessage message{};
      is_over = now > end || (time + 1 == times && done + 1 == trips);
      message[0] = is_over ? last_ping : 0;
      send_pace(message, peer, comm);
      receive_pace(message, peer, comm);
      now = MPI_Wtime();
      ++done;
    }
    least = std::min(least, (now - begin) / 2 / done);
  }
  return least;
}

void answer_pings(MPI_Comm comm) {
  for (PaceMessage message{}; message[0] != last_ping;) {
    receive_pace(message, 0, comm);
    send_pace(message, 0, comm);
  }
}

}  // namespace

std::vector<Pace> time_lone_messages(MPI_Comm comm, const Layout& given, const Machine& machine) {
  const auto layout = given.on(machine);
  const Rank rank = rank_in(comm);
  std::vector<Pace> paces;
  for (Level level = 0; level <= layout.outermost(); ++level) {
    Rank peer = 1;
    while (peer < layout.ranks() && layout.channel_level(0, peer) != level) ++peer;
    if (peer == layout.ranks()) continue;
    Pace pace{machine.name_of(level), place_of(machine, level), 0};
    if (rank == 0) pace.seconds = begin_pings(comm, peer);
    else if (rank == peer) answer_pings(comm);
    COMMPASS_MPI_CALL(MPI_Bcast, &pace.seconds, 1, MPI_DOUBLE, 0, comm);
    paces.push_back(pace);
  }
  return paces;
}

}  // namespace commpass
