// The command lines of the documents that no console block runs: each is one that the program takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "selector/commands/commands.hpp"
#include "selector/commands/program_arguments.hpp"
#include "selector/commands/run_command.hpp"
#include "source_files.hpp"

namespace commpass {
namespace {

/// The words of a shell's line up to a comment, a redirection or a pipe.
std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool has_word = false;
  for (const char letter : line + " ") {
    const bool is_blank = letter == ' ';
    if (quote == 0 && !has_word && (letter == '#' || letter == '>' || letter == '|')) break;
    if (quote == 0 && is_blank) {
      if (has_word) words.push_back(word);
      word.clear();
      has_word = false;
    } else if (letter == quote) {
      quote = 0;
    } else if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
      has_word = true;
    } else {
      word += letter;
      has_word = true;
    }
  }
  return words;
}

/// The lines of a page that are indented by four blanks or more, outside of fences. A line that ends in a backslash
/// goes on.
std::vector<std::string> indented_lines(const std::filesystem::path& page) {
  std::vector<std::string> result;
  std::istringstream lines(test::contents_of(page));
  bool is_fenced = false, goes_on = false;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    if (line.compare(begin, 3, "```") == 0) is_fenced = !is_fenced;
    if (is_fenced || begin < 4) continue;
    const auto text = line.substr(begin);
    if (goes_on) result.back() += text;
    else result.push_back(text);
    goes_on = result.back().ends_with("\\");
    if (goes_on) result.back().pop_back();
  }
  return result;
}

/// The words from "commpass" on, behind a launcher or alone.
std::vector<std::string> command_of(const std::string& line) {
  auto words = words_of_line(line);
  const auto found = std::ranges::find(words, "commpass");
  const bool is_first = found == words.begin() || words.front().starts_with("mpirun") || words.front() == "srun" ||
                        words.front() == "show";
  if (found == words.end() || !is_first) return {};
  words.erase(words.begin(), found);
  return words;
}

void run_nothing(Command& command) {
  command.run = [kept = command.run] {};
  for (auto& each : command.commands) run_nothing(each);
}

/// All but the command of completions, which a page shows within another command.
Command all_commands(CalibrateArguments& calibrate, MeasureArguments& measure, DoctorArguments& doctor) {
  Command all{"commpass", ""};
  all.commands = {predict_command(),  report_command(),  pattern_command(),    run_program_command(), record_command(),
                  advise_command(),   profile_command(), strategies_command(), export_command(),      wisdom_command(),
                  patterns_command(), {"calibrate", ""}, {"measure", ""},      {"doctor", ""}};
  auto* const mpi_program = &all.commands.back() - 2;
  calibrate.add_to(mpi_program[0]);
  measure.add_to(mpi_program[1]);
  doctor.add_to(mpi_program[2]);
  run_nothing(all);
  return all;
}

TEST(Documents, ShowCommandLinesThatAreTaken) {
  auto pages = std::vector{test::source / "README.md", test::source / "HACKING.md"};
  for (const auto& page : std::filesystem::directory_iterator(test::source / "docs"))
    if (page.path().extension() == ".md") pages.push_back(page.path());
  int commands = 0;
  for (const auto& page : pages)
    for (const auto& line : indented_lines(page)) {
      const auto words = command_of(line);
      if (words.empty()) continue;
      ++commands;
      std::vector<const char*> argv;
      for (const auto& word : words) argv.push_back(word.c_str());
      CalibrateArguments calibrate;
      MeasureArguments measure;
      DoctorArguments doctor;
      EXPECT_EQ(
          run_command(all_commands(calibrate, measure, doctor), static_cast<int>(argv.size()), argv.data(), false), 0)
          << page << ": " << line;
    }
  EXPECT_GT(commands, 100);
}

}  // namespace
}  // namespace commpass
