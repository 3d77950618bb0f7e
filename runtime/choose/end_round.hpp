// A round of trials, of which the slowest rank's times count.
#pragma once

#include <mpi.h>

#include "runtime/mpi/mpi_error.hpp"
#include "selector/choose/trial_timer.hpp"

namespace commpass {

/// Collective. @throws MpiError
inline void end_round_together(MPI_Comm comm, TrialTimer& trials) {
  const auto seconds = trials.round();
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                    comm);
  trials.end_round();
}

}  // namespace commpass
