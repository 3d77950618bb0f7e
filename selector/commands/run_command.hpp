// Reads a command line by the data of a command, and runs it.
#pragma once

#include "selector/commands/switches.hpp"

namespace commpass {

/// Parses the arguments, which may stand in any order, and runs the command that they name: the exit code is 0 (done),
/// 1 (bad input: one sentence on stderr) or 2 (wrong usage).
/// @param speaks  print errors and --help; one rank of an MPI program does
int run_command(const Command& command, int argc, const char* const* argv, bool speaks = true);

}  // namespace commpass
