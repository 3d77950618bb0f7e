// commpass run, commpass record: start an unmodified program with libcommpass-mpi before the MPI library.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <thread>
#include <tuple>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/machine/profile.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/preloaded.hpp"
#include "selector/commands/switches.hpp"
#include "selector/environment/environment.hpp"

extern char** environ;  // NOLINT: POSIX declares it so

namespace commpass {

namespace {

namespace fs = std::filesystem;

constexpr auto *library_name = "libcommpass-mpi.so", *abi_library_name = "libcommpass-mpi-abi.so";

struct Started {
  std::vector<std::string> words;
  std::string library, only;
  bool print = false;

  void add_to(Command& command) {
    command.add({{"command",
                  &words,
                  "behind --: the launcher, the program and their arguments",
                  {.required = true, .offer = Offer::programs}},
                 {"--only", &only, "take over these calls alone, as alltoallv,neighbor_alltoallv (COMMPASS_MPI_CALLS)"},
                 {"--library", &library,
                  fmt::format("the {} or {} to use; else the one beside this program", library_name, abi_library_name)},
                 {"--print", &print, "print the command line and run nothing"}});
  }
};

/// That of the build tree or of the installation that this program belongs to. @throws InputError
std::string library_beside_this(const std::string& name) {
  std::error_code ignored;
  const auto here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto* folder : {"../preload", COMMPASS_LIBRARIES_FROM_PROGRAMS}) {
    const auto found = fs::weakly_canonical(here / folder / name, ignored);
    if (fs::exists(found, ignored)) return found.string();
  }
  throw InputError(
      name, "it is not beside " + here.string(),
      fmt::format("build Commpass with {}, or name the library by --library",
                  name == abi_library_name ? "the ABI of MPI 5 (-DCOMMPASS_MPI_ABI=ON)" : "MPI (-DCOMMPASS_MPI=ON)"));
}

/// What a launcher says of itself; nothing where it cannot be started.
std::string version_of(const std::string& launcher) {
  FILE* const pipe = popen((shell_word(launcher) + " --version 2>/dev/null </dev/null").c_str(), "r");
  if (!pipe) return {};
  constexpr std::size_t enough = 4096;
  std::string text(enough, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe));
  pclose(pipe);
  return text;
}

/// Ranks know no other names of variables than these.
std::vector<std::string> set_variables(const std::vector<std::pair<std::string, std::string>>& but_for) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (name.starts_with("COMMPASS_") &&
        std::ranges::none_of(but_for, [&](const auto& variable) { return variable.first == name; }))
      names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Preloaded prepare(const Started& started, std::vector<std::pair<std::string, std::string>> variables) {
  const auto launcher = find_launcher(started.words);
  const auto library_for = [&] {
    const auto words = std::span(started.words).subspan(launcher < started.words.size() ? launcher + 1 : 0);
    return library_beside_this(is_any_linked_with_abi(words) ? abi_library_name : library_name);
  };
  auto library = started.library.empty() ? library_for() : fs::absolute(started.library).string();
  if (!started.only.empty()) variables.emplace_back("COMMPASS_MPI_CALLS", started.only);
  for (const auto& [name, value] : variables)
    parse_environment({fmt::format("{}={}", name, value)});  // throws if it is wrong
  if (library.find_first_of(" :") != std::string::npos)
    throw InputError(library, "LD_PRELOAD takes spaces and colons for ends of names",
                     "name a library without them by --library, which may be a link to this one");
  const auto built_with = kind_of_library(read_file(library));
  auto kind = MpiKind::unknown;
  if (launcher < started.words.size()) {
    kind = kind_of_launcher(version_of(started.words[launcher]));
    if (kind != MpiKind::unknown && built_with != MpiKind::unknown && kind != built_with)
      throw InputError(
          started.words[launcher],
          fmt::format("it starts programs of {}, and {} is for {}", name_of(kind), library, name_of(built_with)),
          "use the commpass, or by --library the library, that was built with the program's MPI library");
  }
  if (const char* before = std::getenv("LD_PRELOAD"); before && *before) library.append(":").append(before);
  const auto exported = set_variables(variables);
  return preload(started.words, kind, library, std::move(variables), exported);
}

void print_line(const Preloaded& line) {
  std::string text;
  for (const auto& [name, value] : line.variables) text += name + "=" + shell_word(value) + " ";
  for (const auto& word : line.words) text += shell_word(word) + (&word == &line.words.back() ? "\n" : " ");
  std::fputs(text.c_str(), stdout);
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as execv wants them
  list.push_back(nullptr);
  return list;
}

void set(const std::vector<std::pair<std::string, std::string>>& variables) {
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
}

[[noreturn]] void fail_to_start(const std::string& word, int problem) {
  throw InputError(word, fmt::format("it cannot be started ({})", std::strerror(problem)),
                   "name launcher and program as you start them without Commpass");
}

volatile sig_atomic_t child_of_ours = 0;
/// A terminal sends its signals to the child, too, and a launcher that gets a second one kills its ranks at once.
void pass_on(int number, siginfo_t* info, void*) {
  const bool is_by_process = info->si_code <= 0;
  if (is_by_process && child_of_ours > 0) kill(child_of_ours, number);
}

/// Signals that are to end this program are blocked while this lives, and passed on afterwards, unless they are
/// ignored.
class PassedOn {
 public:
  PassedOn() {
    const auto numbers = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : numbers) sigaddset(&blocked, number);
    sigprocmask(SIG_BLOCK, &blocked, &before_);
    for (const int number : numbers) {
      struct sigaction action {};
      sigaction(number, nullptr, &action);
      if (action.sa_handler == SIG_IGN) continue;
      action.sa_sigaction = pass_on;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      sigaction(number, &action, nullptr);
    }
  }
  ~PassedOn() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  PassedOn(const PassedOn&) = delete;
  PassedOn& operator=(const PassedOn&) = delete;

  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// As posix_spawnp, which finds the signals as they were before. @return its error
int spawn(const Preloaded& line) {
  const PassedOn signals;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, line.words[0].c_str(), nullptr, &attributes, pointers_to(line.words).data(), environ);
  posix_spawnattr_destroy(&attributes);
  child_of_ours = child;
  return problem;
}

/// Runs it to its end; signals that are to end this program, from other processes, go there. @return its exit code, 128
/// + the signal as shells
int run_to_end(const Preloaded& line) {
  set(line.variables);
  if (const int problem = spawn(line)) fail_to_start(line.words[0], problem);
  int status = 0;
  while (waitpid(child_of_ours, &status, 0) < 0)
    if (errno != EINTR)
      throw InputError(line.words[0], "how it ended is lost, as SIGCHLD is ignored here",
                       "start commpass with SIGCHLD as usual");
  constexpr int by_signal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
}

struct RunArguments {
  Started started;
  std::string profile, json;
  bool always = false, quiet = false;
};

void run_program(const RunArguments& arguments) {
  std::vector<std::pair<std::string, std::string>> variables{{"COMMPASS_MPI", arguments.always ? "always" : "on"},
                                                             {"COMMPASS_VERBOSE", arguments.quiet ? "0" : "1"}};
  if (!arguments.json.empty()) {
    variables.emplace_back("COMMPASS_MPI_REPORT",
                           fs::absolute(arguments.json).string());  // the program may go elsewhere
    if (!arguments.started.print) check_writable(arguments.json);
  } else if (!arguments.quiet) {
    variables.emplace_back("COMMPASS_MPI_REPORT", "-");
  }
  if (!arguments.profile.empty()) {
    const auto path = find_profile_or_default(arguments.profile, read_environment());
    read_profile(path);  // throws if it is none
    variables.emplace_back("COMMPASS_PROFILE", fs::absolute(path).string());
  }
  const auto line = prepare(arguments.started, std::move(variables));
  if (arguments.started.print) return print_line(line);
  set(line.variables);
  execvp(line.words[0].c_str(), pointers_to(line.words).data());
  fail_to_start(line.words[0], errno);
}

struct RecordArguments {
  Started started;
  std::string output = "commpass-record.json";
};

/// The identity of a file, to tell it from the one that was there before: inode, size, time in s and ns. Opens it,
/// since only then does NFS ask its server.
using FileIdentity = std::tuple<ino_t, off_t, time_t, long>;
FileIdentity identity_of(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT: POSIX declares it so
  if (file < 0) return {};
  struct stat found {};
  const bool is_found = fstat(file, &found) == 0;
  close(file);
  return is_found ? FileIdentity{found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec}
                  : FileIdentity{};
}

/// Has it been written since? Another node's file may take a moment to appear.
bool is_written(const std::string& path, const FileIdentity& before) {
  constexpr auto pause = std::chrono::milliseconds(100);
  constexpr int most_pauses = 20;
  for (int i = 0; i < most_pauses; ++i) {
    if (identity_of(path) != before) return true;
    std::this_thread::sleep_for(pause);
  }
  return identity_of(path) != before;
}

void record_program(const RecordArguments& arguments) {
  const auto output = fs::absolute(arguments.output).string();  // the program may go elsewhere
  const auto line = prepare(arguments.started, {{"COMMPASS_MPI", "record"}, {"COMMPASS_MPI_RECORD", output}});
  if (arguments.started.print) return print_line(line);
  check_writable(output);
  const auto before = identity_of(output);
  const int code = run_to_end(line);
  if (!is_written(output, before)) {
    const auto reason =
        code != 0 ? fmt::format("the program ended with exit code {}, before MPI_Finalize", code)
                  : std::string(
                        "the program ended without MPI_Finalize, makes no calls of MPI by names that a shared "
                        "library can take over, or rank 0 ran on a node that has a directory of its own there");
    std::fputs(fmt::format("commpass: {} was not written: {}.\n", output, reason).c_str(), stderr);
    std::exit(code == 0 ? 1 : code);
  }
  std::fputs(fmt::format("commpass: wrote {}; 'commpass advise {} --profile NAME' reads it.\n", arguments.output,
                         shell_word(arguments.output))
                 .c_str(),
             stderr);
  if (code != 0) std::exit(code);
}

}  // namespace

Command run_program_command() {
  auto arguments = std::make_shared<RunArguments>();
  Command command{"run", "start an unmodified program, with its exchanges taken over where that is faster"};
  command.add({profile_switch(&arguments->profile),
               {"--always", &arguments->always, "Commpass runs what it can, faster or not: for tests"},
               {"--quiet", &arguments->quiet, "no report at the end"},
               {"--json", &arguments->json, "write the report by places into this file, as JSON"}});
  arguments->started.add_to(command);
  command.footer = "commpass run --profile my-machine -- mpirun -n 4 ./program";
  command.run = [arguments] { run_program(*arguments); };
  return command;
}

Command record_command() {
  auto arguments = std::make_shared<RecordArguments>();
  Command command{"record", "start an unmodified program, and write down which exchanges it makes"};
  command.add({output_switch(&arguments->output, "file to write (default: commpass-record.json)", {".json"})});
  arguments->started.add_to(command);
  command.footer = "commpass record -o run.json -- mpirun -n 4 ./program";
  command.run = [arguments] { record_program(*arguments); };
  return command;
}

}  // namespace commpass
