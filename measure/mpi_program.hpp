// What the MPI programs of the command line share.
#pragma once

#include <mpi.h>

#include "selector/commands/switches.hpp"

namespace commpass {

/// As run_command, between MPI_Init and MPI_Finalize. Only rank 0 prints. What runs must throw on all ranks or on none,
/// as functions of the runtime do.
/// @param threads  the level to ask MPI for; pricing may take several threads, none of which calls MPI
/// @return the exit code, the same on every rank
int run_mpi_command(const Command& command, int& argc, char**& argv, int threads = MPI_THREAD_FUNNELED);

}  // namespace commpass
