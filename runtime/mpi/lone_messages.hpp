// What a lone small message takes here and now.
#pragma once

#include <mpi.h>

#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/pace.hpp"

namespace commpass {

/// One way of a ping-pong between rank 0 and the first rank of each level that it has one of, where nothing disturbs
/// it. The same on all ranks. Collective, on a communicator of our own.
/// @param machine  whose levels these are
/// @throws MpiError
std::vector<Pace> time_lone_messages(MPI_Comm comm, const Layout& layout, const Machine& machine);

}  // namespace commpass
