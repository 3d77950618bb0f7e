// Which launcher started this process, and whether it is the MPI library's own. The launcher of another library starts
// each process as a program of one rank, without an error.
#pragma once

#include <string>

namespace commpass {

struct Launcher {
  std::string variable;  ///< of the environment that has the number of ranks; empty: there is none
  int ranks = 0;         ///< that were started
  int rank = 0;          ///< of this process among them
};

/// Reads the launcher's environment. Of several launchers, as of a batch system and an mpirun in it, one that started
/// as many ranks as MPI sees goes first. Local.
/// @param ranks  of MPI_COMM_WORLD
Launcher launcher_of(int ranks);

/// One sentence if a launcher started more ranks, and MPI sees this one alone; else empty. Local.
std::string launcher_warning();

/// @throws InputError with the text of launcher_warning, unless it is empty
void require_own_launcher();

}  // namespace commpass
