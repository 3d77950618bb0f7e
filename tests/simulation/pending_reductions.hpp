// The non-blocking reductions of a rank (nonblocking_reduction.cpp), for those who let them move on while they wait for
// something else.
#pragma once

#include <mpi.h>

#include <vector>

namespace simulation {

/// Appends the messages that reductions wait for, after starting those that were not; none where no reduction is
/// pending.
void start_pending_messages(std::vector<MPI_Request*>& messages);

/// To be called when messages have become null requests: the steps whose messages all have are done.
void end_complete_steps();

/// Waits until a message of a pending reduction is complete. There must be such a reduction.
void wait_for_pending_message();

}  // namespace simulation
