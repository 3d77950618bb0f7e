// commpass doctor: finds conditions that spoil measurements here and now, and names remedies.
#include <fmt/core.h>
#include <mpi.h>

#include "doctor/findings.hpp"
#include "doctor/host.hpp"
#include "doctor/ranks.hpp"
#include "measure/mpi_program.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/commands/program_arguments.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  commpass::DoctorArguments arguments;
  bool good = true;
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
