// commpass: the front door. It needs no MPI; what does is handed to a program beside this one.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "selector/commands/calibrate_arguments.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/environment.hpp"
#include "selector/commands/launches.hpp"
#include "selector/commands/measure_arguments.hpp"

namespace {

/// The commands that are MPI programs of their own, commpass-NAME.
struct MpiProgram {
  const char *name, *summary;
  void (*add_switches)(CLI::App& app);
};

/// Switches are bound to memory that lasts as long as the program.
template <class Arguments>
void add_switches(CLI::App& app) {
  static Arguments arguments;
  arguments.add_to(app);
}

constexpr MpiProgram mpi_programs[] = {
    {"calibrate", "measure this machine and write a profile; run it under mpirun",
     add_switches<commpass::CalibrateArguments>},
    {"measure", "run strategies on real ranks and compare with the prediction; run it under mpirun",
     add_switches<commpass::MeasureArguments>},
    {"doctor", "tell what is wrong with measuring here now, and what helps; alone or under mpirun",
     add_switches<commpass::DoctorArguments>}};

/// Help needs no MPI; but of the ranks that a launcher started one alone must give it.
bool asks_for_help_alone(int argc, char** argv) {
  return !commpass::is_launched() &&
         std::any_of(argv, argv + argc, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

std::string program_beside(const std::string& name) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  return (here / ("commpass-" + name)).string();
}

/// `commpass calibrate --launches N … -- mpirun …`, or `measure`: it starts the MPI program itself.
bool starts_launches(int argc, char** argv) {
  const std::string name = argv[1];
  return !commpass::is_launched() && (name == "calibrate" || name == "measure") &&
         std::any_of(argv, argv + argc, [](const std::string& word) { return word.starts_with("--launches"); });
}

/// The words before "--" without "--launches N".
std::vector<std::string> other_switches(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 2; i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    if (word == "--launches") ++i;
    else if (!word.starts_with("--launches=")) words.push_back(word);
  }
  return words;
}

int run_launches(int argc, char** argv) {
  const std::string name = argv[1];
  CLI::App app{"Runs in several launches: commpass " + name + " --launches N … -- mpirun -n N"};
  app.name("commpass " + name);
  commpass::CalibrateArguments calibrate;
  commpass::MeasureArguments measure;
  if (name == "calibrate") calibrate.add_to(app);
  else measure.add_to(app);
  return commpass::run_command(app, argc - 1, argv + 1, [&] {
    const auto program = program_beside(name);
    if (name == "calibrate") commpass::calibrate_by_launches(calibrate, program);
    else commpass::measure_by_launches(measure, program, other_switches(argc, argv));
  });
}

/// Becomes the MPI program. @return the exit code if that fails
int hand_over(const std::string& name, char** argv) {
  const auto program = program_beside(name);
  argv[1] = const_cast<char*>(program.c_str());  // NOLINT: execv takes char* but does not write
  execv(program.c_str(), argv + 1);
  fmt::print(stderr, "commpass: {} cannot be started ({}); build Commpass with MPI (-DCOMMPASS_MPI=ON).\n", program,
             std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& program : mpi_programs)
    if (argc > 1 && std::string(argv[1]) == program.name && !asks_for_help_alone(argc, argv))
      return starts_launches(argc, argv) ? run_launches(argc, argv) : hand_over(program.name, argv);

  CLI::App app{"Commpass finds the fastest way to run an irregular MPI exchange."};
  app.name("commpass");
  app.set_version_flag("--version", "commpass " COMMPASS_VERSION, "print the version and exit");
  app.require_subcommand(1);
  std::function<void()> command;
  commpass::add_predict(app, command);
  commpass::add_pattern(app, command);
  commpass::add_run(app, command);
  commpass::add_advise(app, command);
  commpass::add_profile(app, command);
  commpass::add_catalogues(app, command);
  commpass::add_wisdom_command(app, command);
  for (const auto& [name, summary, add] : mpi_programs) add(*app.add_subcommand(name, summary));  // for --help only
  commpass::add_completion(app, command);
  return commpass::run_command(app, argc, argv, [&] { command(); });
}
