// The latency of a small message, measured now.
#pragma once

#include <mpi.h>

#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/pace.hpp"

namespace commpass {

/// Half the round trip of ping-pongs between rank 0 and its first peer at each level that has one, while no other
/// message is under way. The same on all ranks. Collective, on a communicator of our own.
/// @param machine  whose levels these are
/// @throws MpiError
std::vector<Pace> time_message_latencies(MPI_Comm comm, const Layout& layout, const Machine& machine);

}  // namespace commpass
