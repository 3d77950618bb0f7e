// The commands of the program, and those that start several launches.
#pragma once

#include <string>
#include <vector>

#include "selector/commands/program_arguments.hpp"
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
Command export_command();
Command wisdom_command();
/// @param all  the outermost command, which must live as long as the result
Command completion_command(const Command& all);

/// Runs `program` by the launcher that is named, as often as told, each time with an output of its own beside the
/// profile that is wanted. Merges these, tells the verdict on stderr, and leaves the merged profile alone.
/// @param program  commpass-calibrate, found by its path on all nodes
/// @throws InputError if a launch fails or leaves no profile
void calibrate_by_launches(CalibrateArguments arguments, const std::string& program);

/// Runs `program` in the same way, and prints what its launches measured together, as a table or as JSON.
/// @param program   commpass-measure
/// @param switches  the words of its command line, without those that are about launches
/// @throws InputError if a launch fails or prints no report
void measure_by_launches(const MeasureArguments& arguments, const std::string& program,
                         const std::vector<std::string>& switches);

}  // namespace commpass
