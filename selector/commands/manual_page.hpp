// Manual pages (man macros) of commands, made from their switches.
#pragma once

#include <string>

#include "selector/commands/switches.hpp"

namespace commpass {

/// The page of the program, or of one of its commands, which then has the commands of that command, too.
/// @param name  words that lead to the command: "commpass profile"
/// @param version  of the program: "commpass 1.0.0"
std::string manual_page(const Command& command, const std::string& name, const std::string& version);

/// Writes the page of the program and of each of its commands into a directory: commpass.1, commpass-predict.1.
/// @throws InputError if a file cannot be written
void write_manual(const Command& program, const std::string& directory);

}  // namespace commpass
