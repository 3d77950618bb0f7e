// What all ranks know of the calls of a run, at its end.
#pragma once

#include <vector>

#include "runtime/mpi/own_communicator.hpp"
#include "selector/report/place_report.hpp"
#include "selector/report/record.hpp"

namespace commpass {

struct GatheredRecord {
  Record record = {};
  std::vector<WhoRan> ran = {};  ///< for each of its exchanges
  bool calls_overlap = false;    ///< were two threads of a rank in calls at once?
};

/// Has any rank recorded a call? Collective. @param own  of all ranks of MPI_COMM_WORLD
bool has_record(const OwnCommunicator& own);

/// Collective, when all logs have been told. @param own  of all ranks of MPI_COMM_WORLD
/// @return on rank 0; empty elsewhere
/// @throws Error
GatheredRecord gather_record(const OwnCommunicator& own);

}  // namespace commpass
