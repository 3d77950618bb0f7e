// commpass: the front door. It needs no MPI; commands that do are handed to a program beside this one.
#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "selector/commands/commands.hpp"
#include "selector/commands/program_arguments.hpp"
#include "selector/commands/run_command.hpp"
#include "selector/environment/environment.hpp"

namespace {

/// The commands that are MPI programs of their own, commpass-NAME.
struct MpiProgram {
  const char *name, *summary;
  void (*add_switches)(commpass::Command& command);
};

/// Switches are bound to memory that lasts as long as the program.
template <class Arguments>
void add_switches(commpass::Command& command) {
  static Arguments arguments;
  arguments.add_to(command);
}

constexpr MpiProgram mpi_programs[] = {
    {"calibrate", "measure this machine and write a profile; run it under mpirun",
     add_switches<commpass::CalibrateArguments>},
    {"measure", "run strategies on real ranks and compare with the prediction; run it under mpirun",
     add_switches<commpass::MeasureArguments>},
    {"doctor", "find conditions that spoil measurements here now, and name remedies; alone or under mpirun",
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
  commpass::Command command{"commpass " + name,
                            "Runs in several launches: commpass " + name + " --launches N … -- mpirun -n N"};
  commpass::CalibrateArguments calibrate;
  commpass::MeasureArguments measure;
  if (name == "calibrate") calibrate.add_to(command);
  else measure.add_to(command);
  command.run = [&] {
    const auto program = program_beside(name);
    if (name == "calibrate") commpass::calibrate_by_launches(calibrate, program);
    else commpass::measure_by_launches(measure, program, other_switches(argc, argv));
  };
  return commpass::run_command(command, argc - 1, argv + 1);
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

/// Prices of large patterns take and free the same arrays again and again; from the system, memory comes page by page.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& program : mpi_programs)
    if (argc > 1 && std::string(argv[1]) == program.name && !asks_for_help_alone(argc, argv))
      return starts_launches(argc, argv) ? run_launches(argc, argv) : hand_over(program.name, argv);
  keep_freed_memory();

  commpass::Command all{"commpass", "Commpass finds the fastest way to run an irregular MPI exchange."};
  all.version = "commpass " COMMPASS_VERSION;
  all.commands = {commpass::predict_command(),     commpass::report_command(),     commpass::pattern_command(),
                  commpass::run_program_command(), commpass::record_command(),     commpass::advise_command(),
                  commpass::profile_command(),     commpass::strategies_command(), commpass::patterns_command(),
                  commpass::export_command(),      commpass::wisdom_command()};
  for (const auto& [name, summary, add] : mpi_programs) {  // for --help only
    all.commands.push_back({name, summary});
    add(all.commands.back());
  }
  all.commands.push_back(commpass::completion_command(all));
  return commpass::run_command(all, argc, argv);
}
