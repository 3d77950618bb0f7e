// commpass doctor: finds conditions that spoil measurements here and now, and names remedies.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "doctor/bug_case.hpp"
#include "doctor/bug_launches.hpp"
#include "doctor/findings.hpp"
#include "doctor/host.hpp"
#include "doctor/ranks.hpp"
#include "measure/mpi_program.hpp"
#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/commands/program_arguments.hpp"
#include "selector/commands/run_command.hpp"
#include "selector/environment/environment.hpp"

namespace {

constexpr int not_now = 3;

/// @return may one measure here now?
bool examine(bool json, const std::optional<commpass::LargeBlocks>& large_blocks) {
  using namespace commpass;
  const auto hosts = host_names(MPI_COMM_WORLD);
  const auto layout = detect_layout(MPI_COMM_WORLD);
  ProfileFacts profile;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    auto runs = surroundings_here(layout);
    runs.hosts = hosts;
    profile = examine_profile(fingerprint_here(), layout, runs);
  }
  const auto of_rank_0 = broadcast(MPI_COMM_WORLD, profile.json);
  auto facts = examine_ranks(MPI_COMM_WORLD, layout,
                             of_rank_0.empty() ? Machine() : parse_profile(of_rank_0, "profile of rank 0").machine);
  int good = 1;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    facts.profile = std::move(profile);
    facts.large_blocks = large_blocks;
    const auto findings = judge(facts);
    good = may_measure(findings) ? 1 : 0;
    // Where every process is alone, since the launcher is another MPI's, the launcher's first one speaks for all.
    if (facts.mpi.launched_rank == 0)
      fmt::print("{}", document_of(findings, facts.layout).write(json ? Form::json : Form::text));
  }
  COMMPASS_MPI_CALL(MPI_Bcast, &good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return good != 0;
}

/// @return does the MPI library get all cases right?
bool look_for_mpi_bugs(const commpass::DoctorArguments& arguments) {
  using namespace commpass;
  namespace fs = std::filesystem;
  if (is_launched())
    throw InputError("--mpi-bugs", "a launcher has started this already",
                     "put the launcher behind it: commpass doctor --mpi-bugs -- mpirun");
  // More ranks than processors are no error here, and should take turns.
  for (const auto& [name, value] : {std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                    std::pair{"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                    std::pair{"OMPI_MCA_mpi_yield_when_idle", "1"}})
    setenv(name, value, 0);
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored);
  auto launcher = arguments.launcher;
  if (launcher.empty()) launcher = {fs::exists(COMMPASS_MPIEXEC, ignored) ? COMMPASS_MPIEXEC : "mpiexec"};
  const auto tried = try_mpi_bugs({launcher, program, program.parent_path() / "commpass"});
  fmt::print(
      "{}",
      document_of(tried.cases, tried.library, join(launcher, " ")).write(arguments.json ? Form::json : Form::text));
  return is_all_right(tried.cases);
}

bool has_word(int argc, char** argv, std::string_view word) {
  return std::any_of(argv, argv + argc, [&](std::string_view one) { return one == word; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == commpass::bug_case_word) return commpass::run_mpi_bug_case(argv[2]);
  commpass::DoctorArguments arguments;
  bool good = true;
  if (has_word(argc, argv, "--mpi-bugs")) {
    commpass::Command command{"commpass doctor",
                              "Tries known errors of MPI libraries: commpass doctor --mpi-bugs -- mpirun. Exit code 0: "
                              "the library has none of them; 3: it has some."};
    arguments.add_to(command);
    command.run = [&] { good = look_for_mpi_bugs(arguments); };
    const int code = commpass::run_command(command, argc, argv, commpass::launcher_of(1).rank == 0);
    return code == 0 && !good ? not_now : code;
  }
  // Before MPI is initialised, whose threads a child process would lack. One process of a job does, undisturbed.
  const auto large_blocks =
      commpass::launcher_of(1).rank == 0 ? commpass::time_large_blocks() : std::optional<commpass::LargeBlocks>();
  commpass::Command command{
      "commpass doctor",
      "Finds conditions that spoil measurements on this machine now, and names remedies: "
      "commpass doctor, or mpirun -n N commpass doctor for the ranks, too. Exit code 0: measure now; 3: do not."};
  arguments.add_to(command);
  command.run = [&] { good = examine(arguments.json, large_blocks); };
  const int code = commpass::run_mpi_command(command, argc, argv, MPI_THREAD_MULTIPLE);
  return code == 0 && !good ? not_now : code;
}
