#include "measure/mpi_program.hpp"

#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/commands/run_command.hpp"

namespace commpass {

int run_mpi_command(const Command& command, int& argc, char**& argv, int threads) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads, &level);
  const Rank rank = rank_in(MPI_COMM_WORLD);
  // All ranks have the same errors and the same --help, so one rank prints them. If another library's launcher started
  // each process alone, all are rank 0; then the first process of the launcher prints.
  const bool prints = rank == 0 && (launcher_warning().empty() || launcher_of(1).rank == 0);
  const int code = run_command(command, argc, argv, prints);
  MPI_Finalize();
  return code;
}

}  // namespace commpass
