// The file of a run: rank 0 writes what all ranks know.
#pragma once

#include <mpi.h>

#include <string>

namespace commpass {

/// Collective over `world`, when all logs have been told. What cannot be written is told on stderr, and ends nothing.
/// @param path  of rank 0
void write_record_file(MPI_Comm world, const std::string& path) noexcept;

}  // namespace commpass
