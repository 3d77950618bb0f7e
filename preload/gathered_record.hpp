// The knowledge of all ranks of the calls and messages of a run, at its end.
#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/mpi/own_communicator.hpp"
#include "selector/report/place_report.hpp"
#include "selector/report/record.hpp"

namespace commpass {

struct GatheredRecord {
  Record record = {};
  std::vector<WhoRan> ran = {};  ///< for each of its exchanges
  bool calls_overlap = false;    ///< were two threads of a rank in calls at once?
  bool are_sampled = false;      ///< did calls stand for others?
};

/// Has any rank recorded a call? Collective. @param own  of all ranks of MPI_COMM_WORLD
bool has_record(const OwnCommunicator& own);

/// Collective, when all logs have been told. @param own  of all ranks of MPI_COMM_WORLD
/// @return on rank 0; empty elsewhere
/// @throws Error
GatheredRecord gather_record(const OwnCommunicator& own);

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
