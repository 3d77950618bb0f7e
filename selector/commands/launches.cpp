#include "selector/commands/commands.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/environment/environment.hpp"
#include "selector/report/join_launches.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {

namespace {

/// The errors and warnings of launches, of which each has the same to say.
class PassedErrors {
 public:
  PassedErrors() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw InputError("stderr of launches", fmt::format("no pipe can be made ({})", std::strerror(errno)),
                       "close some files");
  }
  PassedErrors(const PassedErrors&) = delete;
  PassedErrors& operator=(const PassedErrors&) = delete;
  ~PassedErrors() {
    for (const int end : ends_)
      if (end >= 0) close(end);
  }

  int write_end() const { return ends_[1]; }
  /// Passes on what a launch writes, until the last of its processes has closed the pipe.
  /// @param told  our own lines that earlier launches wrote, which are not repeated
  void pass_on(std::set<std::string>& told) {
    close(std::exchange(ends_[1], -1));
    std::string line;
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = read(ends_[0], bytes.data(), bytes.size())) != 0;) {
      if (count < 0 && errno != EINTR) break;
      for (const char letter : std::string_view(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)))) {
        line += letter;
        if (letter == '\n' || letter == '\r') tell(std::exchange(line, {}), told);
      }
    }
    tell(line, told);
  }

 private:
  static void tell(const std::string& line, std::set<std::string>& told) {
    const bool is_ours = line.starts_with("commpass: ");
    if (!is_ours || told.insert(line).second) std::fputs(line.c_str(), stderr);
  }

  std::array<int, 2> ends_ = {-1, -1};
};

/// Runs a command line of words to its end, with nothing to read.
/// @param told    see PassedErrors
/// @param output  file for what it prints; empty: where this program prints
/// @return its exit code
/// @throws InputError if it cannot be started or is ended by a signal
int run_words(const std::vector<std::string>& words, std::set<std::string>& told, const std::string& output = {}) {
  std::vector<char*> list;
  for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as execv wants them
  list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  PassedErrors errors;
  posix_spawn_file_actions_adddup2(&actions, errors.write_end(), STDERR_FILENO);
  if (!output.empty()) {
    constexpr mode_t own = 0600;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, own);
  }
  pid_t child = 0;
  const int problem = posix_spawnp(&child, list[0], &actions, nullptr, list.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0)
    throw InputError(words[0], fmt::format("it cannot be started ({})", std::strerror(problem)),
                     "name the launcher as you start programs with it");
  errors.pass_on(told);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw InputError(words[0], "how it ended is lost, as SIGCHLD is ignored here",
                       "start commpass with SIGCHLD as usual");
  if (!WIFEXITED(status)) throw InputError(words[0], "it was ended by a signal", "see what it said");
  return WEXITSTATUS(status);
}

/// A file that is gone when this is.
class PassingFile {
 public:
  explicit PassingFile(std::string path) : path_(std::move(path)) {}
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  ~PassingFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// With a new name.
std::string new_temporary_file() {
  auto path = (std::filesystem::temp_directory_path() / "commpass-measure-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) throw InputError(path, "it cannot be made", "set TMPDIR to a directory that can be written to");
  close(file);
  return path;
}

std::vector<std::string> words_of(const CalibrateArguments& arguments, const std::string& program,
                                  const std::string& output) {
  auto words = arguments.launches.words;
  words.insert(words.end(), {program, "-o", output, "--budget", arguments.budget});
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--name", arguments.name);
  add("--layout", arguments.layout);
  add("--ppn", arguments.ppn > 0 ? std::to_string(arguments.ppn) : "");
  add("--progress", arguments.progress);
  return words;
}

/// Runs one of the launches.
/// @return its name
std::string launch(const LaunchArguments& launches, const std::string& progress, int number,
                   const std::vector<std::string>& words, std::set<std::string>& told, const std::string& output = {}) {
  auto name = fmt::format("launch {} of {}", number, launches.count);
  if (show_progress(progress.empty() ? read_environment().progress : parse_progress(progress)))
    std::fputs((name + "\n").c_str(), stderr);
  if (const int code = run_words(words, told, output); code != 0)
    throw InputError(name, fmt::format("'{}' ended with exit code {}", join(words, " "), code),
                     "see what it said above");
  return name;
}

NamedProfile calibrate_once(const CalibrateArguments& arguments, const std::string& program, int number,
                            std::set<std::string>& told) {
  // Beside the output: where the launcher's ranks can write, too.
  const PassingFile file(fmt::format("{}.launch-{}.json", arguments.output, number));
  const auto name =
      launch(arguments.launches, arguments.progress, number, words_of(arguments, program, file.path()), told);
  return {name, read_profile(file.path())};
}

}  // namespace

void calibrate_by_launches(CalibrateArguments arguments, const std::string& program) {
  if (arguments.output.empty()) arguments.output = make_default_output(arguments.name, read_environment());
  check_writable(arguments.output);
  if (const auto warning = replaced_warning(arguments.output, host_fingerprint()); !warning.empty())
    std::fputs(("commpass: " + warning + ".\n").c_str(), stderr);
  std::vector<NamedProfile> profiles;
  std::set<std::string> told;
  for (int number = 1; number <= arguments.launches.count; ++number)
    profiles.push_back(calibrate_once(arguments, program, number, told));
  const auto merged = merge_profiles(profiles);
  write_profile(merged, arguments.output);
  if (arguments.json) std::fputs(to_json(merged).c_str(), stdout);
  std::fputs(wrap_lines(fmt::format("commpass: wrote {} of {} launches; verdict: {}\n", arguments.output,
                                    profiles.size(), describe_verdict(merged.machine)))
                 .c_str(),
             stderr);
}

void measure_by_launches(const MeasureArguments& arguments, const std::string& program,
                         const std::vector<std::string>& switches) {
  if (arguments.selection.format.csv)
    throw InputError("--csv", "launches are told as a table or as JSON", "use --json");
  auto words = arguments.launches.words;
  words.push_back(program);
  words.insert(words.end(), switches.begin(), switches.end());
  if (!arguments.selection.format.json) words.push_back("--json");
  const PassingFile output(new_temporary_file());
  std::vector<std::string> reports;
  std::set<std::string> told;
  for (int number = 1; number <= arguments.launches.count; ++number) {
    launch(arguments.launches, arguments.progress, number, words, told, output.path());
    reports.push_back(read_file(output.path()));
  }
  arguments.selection.format.print(document_of(join_launches(reports)));
}

}  // namespace commpass
