// Runs a command of the command line as an MPI program.
#pragma once

#include <mpi.h>

#include "selector/commands/switches.hpp"

namespace commpass {

/// run_command between MPI_Init and MPI_Finalize. Only rank 0 prints. The command must throw on all ranks or on none,
/// as functions of the runtime do.
/// @param threads  the level to ask MPI for; the threads of pricing do not call MPI
/// @return the exit code, the same on every rank
int run_mpi_command(const Command& command, int& argc, char**& argv, int threads = MPI_THREAD_FUNNELED);

}  // namespace commpass
