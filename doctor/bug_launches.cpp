#include "doctor/bug_launches.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/format.hpp"

namespace commpass {

namespace {

using Clock = std::chrono::steady_clock;

enum class Stderr { shown, dropped };

/// A launch whose output is read. Its processes are a group of their own, which ends with this.
class Launch {
 public:
  Launch(const std::vector<std::string>& words, Stderr errors) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw InputError(words[0], fmt::format("no pipe can be made ({})", std::strerror(errno)), "close some files");
    output_ = ends[0];
    std::vector<char*> list;
    for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as execv wants them
    list.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (errors == Stderr::dropped) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int problem = posix_spawnp(&child_, list[0], &actions, &attributes, list.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (problem == 0) return;
    close(output_);
    throw InputError(words[0], fmt::format("it cannot be started ({})", std::strerror(problem)),
                     "name the launcher of the MPI library: commpass doctor --mpi-bugs -- mpirun");
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    constexpr int grace_ms = 5000, step_ms = 10;
    if (is_late_) kill(-child_, SIGTERM);  // a launcher ends its ranks
    for (int waited_ms = 0; is_late_ && waited_ms < grace_ms && waitpid(child_, nullptr, WNOHANG) == 0;
         waited_ms += step_ms)
      poll(nullptr, 0, step_ms);
    if (is_late_) kill(-child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {}
    close(output_);
  }

  /// What it printed until its end, or until then.
  std::string read_until(Clock::time_point end) {
    std::string text;
    std::array<char, 4096> bytes{};
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd ready{output_, POLLIN, 0};
      const int count = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (count < 0 && errno == EINTR) continue;
      is_late_ = count == 0;
      if (count <= 0) return text;
      const auto got = read(output_, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  bool is_late() const { return is_late_; }

 private:
  pid_t child_ = 0;
  int output_ = -1;
  bool is_late_ = false;
};

enum class Preload { none, libcommpass_mpi };

BugTrial launch(const BugLaunches& launches, const MpiBugCase& bug, Preload preload, Stderr errors) {
  std::vector<std::string> words;
  if (preload == Preload::libcommpass_mpi) words = {launches.commpass, "run", "--quiet", "--"};
  words.insert(words.end(), launches.launcher.begin(), launches.launcher.end());
  words.insert(words.end(), {"-n", std::to_string(bug.ranks), launches.program, bug_case_word, std::string(bug.name)});
  Launch one(words, errors);
  auto trial = parse_bug_trial(one.read_until(Clock::now() + std::chrono::seconds(launches.limit_s)));
  if (one.is_late()) trial.result = BugResult::late;
  return trial;
}

}  // namespace

TriedBugs try_mpi_bugs(const BugLaunches& launches) {
  const auto control = launch(launches, no_mpi_bug, Preload::none, Stderr::shown);
  if (control.result != BugResult::right)
    throw InputError(join(launches.launcher, " "),
                     fmt::format("{} ranks that it should start did not tell a result", no_mpi_bug.ranks),
                     "name the launcher of the MPI library that Commpass was built with, with arguments that let it "
                     "start 3 ranks here: commpass doctor --mpi-bugs -- mpirun --oversubscribe");
  TriedBugs tried{control.library, {}};
  for (const auto& bug : mpi_bug_cases) {
    auto& one = tried.cases.emplace_back(TriedBug{bug, launch(launches, bug, Preload::none, Stderr::dropped)});
    if (one.alone.result != BugResult::right && one.alone.result != BugResult::not_tried)
      one.preloaded = launch(launches, bug, Preload::libcommpass_mpi, Stderr::dropped);
  }
  return tried;
}

}  // namespace commpass
