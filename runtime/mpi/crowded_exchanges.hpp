// Exchanges with many messages in flight, on all nodes at once.
#pragma once

#include <mpi.h>

#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// How many exchanges are timed with each number of messages: the network loses messages in some only.
constexpr int crowded_exchanges = 20;

/// With how many messages that begins: no network loses so few.
constexpr int fewest_in_flight = 4;

/// Every rank has `messages` messages of 8 bytes to ranks of other nodes in flight, and gets as many; all ranks begin
/// together. Nodes take part with as many ranks as the smallest has. Collective.
/// Ends before `exchanges` after half a second, but not before five.
/// @param layout  of two nodes or more
/// @return the times of the exchanges, each of the slowest rank, the same on every rank
std::vector<Seconds> time_messages_in_flight(MPI_Comm comm, const Layout& layout, int messages, int exchanges);

}  // namespace commpass
