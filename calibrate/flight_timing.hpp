// Exchanges with many messages in flight, on all nodes at once.
#pragma once

#include <mpi.h>

#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// Every rank has `messages` messages of 8 bytes to ranks of other nodes in flight, and gets as many; all ranks begin
/// together. Nodes take part with as many ranks as the smallest has. Collective.
/// @param layout  of two nodes or more
/// @return the times of the exchanges, each of the slowest rank, the same on every rank
std::vector<Seconds> time_messages_in_flight(MPI_Comm comm, const Layout& layout, int messages, int exchanges);

}  // namespace commpass
