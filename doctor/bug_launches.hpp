// Launches of cases of mpi_bugs.hpp: each has processes of its own, which a library may end or keep.
#pragma once

#include <string>
#include <vector>

#include "doctor/mpi_bugs.hpp"

namespace commpass {

struct BugLaunches {
  std::vector<std::string> launcher;  ///< the words before the number of ranks
  std::string program;                ///< commpass-doctor, which runs a case
  std::string commpass;               ///< which starts a program with libcommpass-mpi
  int limit_s = 20;                   ///< for each launch
};

/// The word of commpass-doctor's command line before a case's name; no switch of people.
inline constexpr const char* bug_case_word = "--mpi-bug-case";

struct TriedBugs {
  std::string library;  ///< as the ranks tell
  std::vector<TriedBug> cases;
};

/// All cases, and those that the library gets wrong with libcommpass-mpi, too. Errors of launches are not shown.
/// @throws InputError if the launcher starts no ranks that tell a result
TriedBugs try_mpi_bugs(const BugLaunches& launches);

}  // namespace commpass
