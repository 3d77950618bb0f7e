// What all ranks have counted of their messages, at the end of a run.
#pragma once

#include <mpi.h>

#include <vector>

#include "selector/report/record.hpp"

namespace commpass {

struct GatheredMessages {
  std::vector<CountedMessages> places = {};
  std::vector<RecordedExchange> phases = {};  ///< that recur; their communicator is MPI_COMM_WORLD
  Seconds counting_s = 0;                     ///< Record::counting_s
};

/// Collective, when messages are counted no more. @return on rank 0; empty elsewhere, and where none were counted
/// @throws Error
GatheredMessages gather_messages(MPI_Comm comm);

/// Puts them into a record, with as many edges as a file may hold.
void add_messages(GatheredMessages messages, Record& record);

}  // namespace commpass
