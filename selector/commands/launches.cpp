#include "selector/commands/launches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "model/error.hpp"
#include "model/file.hpp"
#include "model/machine/profile.hpp"
#include "selector/commands/environment.hpp"
#include "selector/report/merge_profiles.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {

namespace {

/// Runs a command line of words to its end, with nothing to read.
/// @return its exit code
/// @throws InputError if it cannot be started or is ended by a signal
int run_words(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as execv wants them
  list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  pid_t child = 0;
  const int problem = posix_spawnp(&child, list[0], &actions, nullptr, list.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0)
    throw InputError(words[0], fmt::format("it cannot be started ({})", std::strerror(problem)),
                     "name the launcher as you start programs with it");
  int status = 0;
  while (waitpid(child, &status, 0) < 0) continue;
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

std::vector<std::string> words_of(const CalibrateArguments& arguments, const std::string& program,
                                  const std::string& output) {
  auto words = arguments.launcher;
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

bool shows_progress(const CalibrateArguments& arguments) {
  return show_progress(arguments.progress.empty() ? read_environment().progress : parse_progress(arguments.progress));
}

NamedProfile calibrate_once(const CalibrateArguments& arguments, const std::string& program, int launch) {
  // Beside the output: where the launcher's ranks can write, too.
  const PassingFile file(fmt::format("{}.launch-{}", arguments.output, launch));
  const auto name = fmt::format("launch {} of {}", launch, arguments.launches);
  if (shows_progress(arguments)) std::fputs((name + "\n").c_str(), stderr);
  const auto words = words_of(arguments, program, file.path());
  if (const int code = run_words(words); code != 0)
    throw InputError(name, fmt::format("'{}' ended with exit code {}", fmt::join(words, " "), code),
                     "see what it said above");
  return {name, read_profile(file.path())};
}

}  // namespace

void calibrate_by_launches(const CalibrateArguments& arguments, const std::string& program) {
  check_writable(arguments.output);
  std::vector<NamedProfile> profiles;
  for (int launch = 1; launch <= arguments.launches; ++launch)
    profiles.push_back(calibrate_once(arguments, program, launch));
  const auto merged = merge_profiles(profiles);
  write_profile(merged, arguments.output);
  if (arguments.json) std::fputs(to_json(merged).c_str(), stdout);
  std::fputs(fmt::format("commpass: wrote {} of {} launches; verdict: {}.\n", arguments.output, profiles.size(),
                         describe_verdict(merged.machine))
                 .c_str(),
             stderr);
}

}  // namespace commpass
