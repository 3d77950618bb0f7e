// What the MPI programs of the command line share.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace commpass {

/// As run_command, between MPI_Init and MPI_Finalize. Only rank 0 prints. `command` must throw on all ranks or on none,
/// as functions of the runtime do.
/// @return the exit code, the same on every rank
int run_mpi_command(CLI::App& app, int& argc, char**& argv, const std::function<void()>& command);

}  // namespace commpass
