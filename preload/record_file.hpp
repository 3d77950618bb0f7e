// The record of a run, written at its end: rank 0 writes the numbers of all ranks.
#pragma once

#include <mpi.h>

#include <string>

namespace commpass {

// Collective over `world`, when all logs have been told. A failure to write is told on stderr, and ends nothing.

/// The record (COMMPASS_MPI_RECORD). @param path  of rank 0
void write_record_file(MPI_Comm world, const std::string& path) noexcept;
/// The report by places (COMMPASS_MPI_REPORT). @param target  of rank 0: a file for JSON, or "-" for a table on stderr
void write_place_report(MPI_Comm world, const std::string& target) noexcept;

}  // namespace commpass
