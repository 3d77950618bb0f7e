// Private to run_command: the error of a command line, as a sentence that says what to write.
#pragma once

#include <optional>
#include <string>

#include "selector/commands/switches.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace commpass {

/// A command with the words that lead to it, and what CLI11 has read for it.
struct Named {
  const Command* command;
  std::string words;  ///< "commpass profile show"
  const CLI::App* app;
};

/// The innermost one that the command line names.
Named named_command(const CLI::App& app, const Command& command);

/// Nothing that an argument names has an empty name: '' is a variable of a shell that was not set. CLI11 2.1 takes it
/// for the name of a group of options, and may then read it for ever.
std::optional<std::string> find_empty(const Command& command, int argc, const char* const* argv);

/// CLI11 would say that a command is missing.
std::optional<std::string> find_unknown_command(const Command& command, int argc, const char* const* argv);

/// A sentence on a word beside --version.
std::string explain_further_word(const Command& command, const char* const* argv);

/// What CLI11 says of a wrong command line, in our words.
std::string explain(const CLI::ParseError& error, const CLI::App& app, const Command& command);

}  // namespace commpass
