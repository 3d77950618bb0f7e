// Runs the commands that a page shows, and compares their outputs with the lines below them.
//
// A fenced block `console` has commands, each behind "$ ", and below each its output. The shown lines follow one
// another in the output, from its first line to its last; "…" stands for any lines. A command without lines only has to
// succeed. In a block `console measured` lines with a digit are examples, and only the lines without one are compared:
// each is in the output, in this order.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "command/run.hpp"
#include "model/base/file.hpp"

namespace commpass::test {

struct ShownCommand {
  std::string command;
  std::vector<std::string> output;
  bool is_measured = false;
};

inline std::vector<ShownCommand> shown_commands(const std::filesystem::path& page) {
  std::vector<ShownCommand> result;
  std::istringstream lines(read_file(page.string()));
  bool is_inside = false, is_measured = false;
  for (std::string line; std::getline(lines, line);) {
    if (!is_inside) {
      is_measured = line == "```console measured";
      is_inside = is_measured || line == "```console";
    } else if (line == "```") is_inside = false;
    else if (line.starts_with("$ ")) result.push_back({line.substr(2), {}, is_measured});
    else if (!result.empty()) result.back().output.push_back(line);
  }
  return result;
}

/// The lines without a digit, with single spaces: columns are as wide as their numbers.
inline std::string words_of(const std::string& text) {
  std::istringstream lines(text);
  std::string result = "\n";
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_of("0123456789") != std::string::npos) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) result += word + " ";
    result += "\n";
  }
  return result;
}

inline void expect_shown_output(const ShownCommand& shown, const std::string& output, const std::string& place) {
  const auto whole = "\n" + output;
  const auto refuse = [&](const std::string& why, const std::string& lines) {
    ADD_FAILURE() << place << ": the output of '" << shown.command << "' " << why << lines << "It is:\n" << output;
  };
  if (shown.is_measured) {
    const auto words = words_of(output);
    std::size_t at = 0;
    for (const auto& line : shown.output) {
      const auto wanted = words_of(line);
      if (line == "…" || wanted == "\n") continue;
      at = words.find(wanted, at);
      if (at == std::string::npos) return refuse("does not have, in this place, the line\n", line + "\n");
      at += wanted.size() - 1;
    }
    return;
  }
  std::vector<std::string> parts{"\n"};  // between two "…", each from the end of a line to the end of a line
  for (const auto& line : shown.output)
    if (line == "…") parts.emplace_back("\n");
    else parts.back() += line + "\n";
  if (!whole.starts_with(parts.front())) return refuse("does not begin with", parts.front());
  if (parts.size() == 1 && whole != parts.front()) return refuse("has further lines than", parts.front());
  if (!whole.ends_with(parts.back())) return refuse("does not end with", parts.back());
  std::size_t at = 0;
  for (const auto& part : parts) {
    const auto found = whole.find(part, at);
    if (found == std::string::npos) return refuse("does not have, in this place,", part);
    at = found + part.size() - 1;  // a line end may be that of two parts
  }
}

/// Runs the commands in `directory`, one after the other. What they export holds for the commands after them. Where the
/// page says build/openmpi they take `build`.
/// @return how many there are
inline std::size_t expect_commands_as_shown(const std::filesystem::path& page, const std::string& directory,
                                            const std::string& variables = {},
                                            const std::string& build = "build/openmpi") {
  const TemporaryDirectory scripts;
  std::string exports = "set -euo pipefail\ncd '" + directory + "'\n";
  const std::regex shown_build("build/openmpi");
  auto commands = shown_commands(page);
  for (auto& shown : commands) {
    shown.command = std::regex_replace(shown.command, shown_build, build);
    const auto script = scripts.write("command", exports + "{ " + shown.command + "; } 2>&1\n");
    const auto result = run("bash " + script, variables);
    EXPECT_EQ(result.exit_code, 0) << page << ": $ " << shown.command << "\n" << result.out << result.err;
    if (result.exit_code == 0 && !shown.output.empty()) expect_shown_output(shown, result.out, page.string());
    if (shown.command.starts_with("export ")) exports += shown.command + "\n";
  }
  return commands.size();
}

}  // namespace commpass::test
