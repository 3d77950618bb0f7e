// Exchanges with many messages in flight, on all nodes at once.
#pragma once

#include <mpi.h>

#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// Exchanges that are timed with each number of messages: the network loses messages in some of them only.
constexpr int exchanges_timed = 20;

/// The lowest number of messages that is tried: no network is known to lose any of 4.
constexpr int messages_in_flight_min = 4;

/// Every rank has `messages` messages of 8 bytes to ranks of other nodes in flight, and receives as many; all ranks
/// begin together. Every node takes part with as many ranks as the smallest node has. Collective.
/// Ends before `exchanges` after half a second, but not before five.
/// @param layout  of two nodes or more
/// @return the times of the exchanges, each of the slowest rank, the same on every rank
std::vector<Seconds> time_messages_in_flight(MPI_Comm comm, const Layout& layout, int messages, int exchanges);

}  // namespace commpass
