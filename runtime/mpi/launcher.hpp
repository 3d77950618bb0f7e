// Who started this process, and whether that is the MPI library's own launcher. That of another library starts each
// process as a program of one rank, which nothing else tells.
#pragma once

#include <string>

namespace commpass {

struct Launcher {
  std::string variable;  ///< of the environment that tells it; empty: there is none
  int ranks = 0;         ///< that were started
  int rank = 0;          ///< of this process among them
};

/// What the launcher's environment tells. Of several launchers, as of a batch system and an mpirun in it, one that
/// started as many ranks as MPI sees goes first. Local.
/// @param ranks  of MPI_COMM_WORLD
Launcher launcher_of(int ranks);

/// One sentence if a launcher started more ranks, and MPI sees this one alone; else empty. Local.
std::string launcher_warning();

/// Refuses to go on where launcher_warning says something.
/// @throws InputError
void require_own_launcher();

}  // namespace commpass
