// commpass: the front door. It needs no MPI; what does is handed to a program beside this one.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "selector/commands/arguments.hpp"
#include "selector/commands/commands.hpp"

namespace {

/// The commands that are MPI programs of their own, commpass-NAME.
constexpr std::pair<const char*, const char*> mpi_programs[] = {
    {"calibrate", "measure this machine and write a profile; run it under mpirun"},
    {"measure", "run strategies on real ranks and compare with the prediction; run it under mpirun"},
    {"doctor", "tell what is wrong with measuring here now, and what helps; alone or under mpirun"}};

/// Becomes the MPI program. @return the exit code if that fails
int hand_over(const std::string& name, char** argv) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto program = (here / ("commpass-" + name)).string();
  argv[1] = const_cast<char*>(program.c_str());  // NOLINT: execv takes char* but does not write
  execv(program.c_str(), argv + 1);
  fmt::print(stderr, "commpass: {} cannot be started ({}); build Commpass with MPI (-DCOMMPASS_MPI=ON).\n", program,
             std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, summary] : mpi_programs)
    if (argc > 1 && std::string(argv[1]) == name) return hand_over(name, argv);

  CLI::App app{"Commpass finds the fastest way to run an irregular MPI exchange."};
  app.name("commpass");
  app.set_version_flag("--version", "commpass " COMMPASS_VERSION, "print the version and exit");
  app.require_subcommand(1);
  std::function<void()> command;
  commpass::add_predict(app, command);
  commpass::add_pattern(app, command);
  commpass::add_profile(app, command);
  for (const auto& [name, summary] : mpi_programs) app.add_subcommand(name, summary);  // for --help only
  return commpass::run_command(app, argc, argv, [&] { command(); });
}
