// The commands of the front door that need no MPI.
#pragma once

#include "selector/commands/switches.hpp"

namespace commpass {

Command predict_command();
Command report_command();
Command pattern_command();
Command run_program_command();
Command record_command();
Command advise_command();
Command profile_command();
Command import_command();  ///< of profile
Command strategies_command();
Command patterns_command();
Command wisdom_command();
/// @param all  the outermost command, which must live as long as the result
Command completion_command(const Command& all);

}  // namespace commpass
