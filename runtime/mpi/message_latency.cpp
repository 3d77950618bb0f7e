#include "runtime/mpi/message_latency.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

constexpr int tag = 0;

using Ping = std::array<char, pace_bytes>;

void send_ping(Ping& message, Rank peer, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Send, message.data(), static_cast<int>(message.size()), MPI_BYTE, peer, tag, comm);
}
void receive_ping(Ping& message, Rank peer, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Recv, message.data(), static_cast<int>(message.size()), MPI_BYTE, peer, tag, comm,
                    MPI_STATUS_IGNORE);
}

/// The first byte of a message says whether it is the last one.
constexpr char last_ping = 1;

/// The minimum over some samples of the mean of some round trips: interference makes none shorter. Ends early where
/// ranks take turns on a processor, so that a round trip takes milliseconds.
Seconds begin_pings(MPI_Comm comm, Rank peer) {
  constexpr int samples = 12, trips = 20;
  constexpr Seconds total_max_s = 0.02;
  auto least = std::numeric_limits<Seconds>::infinity();
  double now = MPI_Wtime();
  const double end = now + total_max_s;
  bool is_over = false;
  for (int sample = 0; sample < samples && !is_over; ++sample) {
    const double begin = now = MPI_Wtime();
    int done = 0;
    while (done < trips && !is_over) {
      is_over = now > end || (sample + 1 == samples && done + 1 == trips);
      Ping message{is_over ? last_ping : char{0}};
      send_ping(message, peer, comm);
      receive_ping(message, peer, comm);
      now = MPI_Wtime();
      ++done;
    }
    least = std::min(least, (now - begin) / 2 / done);
  }
  return least;
}

void answer_pings(MPI_Comm comm) {
  for (Ping message{}; message[0] != last_ping;) {
    receive_ping(message, 0, comm);
    send_ping(message, 0, comm);
  }
}

}  // namespace

std::vector<Pace> time_message_latencies(MPI_Comm comm, const Layout& given, const Machine& machine) {
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
