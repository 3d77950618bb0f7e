#include "runtime/mpi/launcher.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <cstdlib>
#include <optional>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

struct Variables {
  const char *ranks, *rank;
  const char* required = nullptr;  ///< a variable that must be set, too
};

// Slurm sets SLURM_NTASKS for a whole job, in which other launchers may run, and SLURM_STEP_ID in steps of srun only.
constexpr Variables launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                                   {"SLURM_NTASKS", "SLURM_PROCID", "SLURM_STEP_ID"}};

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? parse_number<int>(text) : std::nullopt;
}

std::optional<InputError> launcher_problem() {
  const int ranks = ranks_in(MPI_COMM_WORLD);
  const auto launcher = launcher_of(ranks);
  if (ranks != 1 || launcher.ranks <= 1) return {};
  return InputError(
      "mpirun",
      fmt::format("it started {} ranks ({}), and {} sees 1", launcher.ranks, launcher.variable, mpi_library()),
      "use the mpirun of that library, or srun with --mpi=pmix or pmi2, or build Commpass with the launcher's library");
}

}  // namespace

Launcher launcher_of(int ranks) {
  Launcher first;
  for (const auto& [size, rank, required] : launchers) {
    const auto started = number_in(size);
    if (!started || (required && !std::getenv(required))) continue;
    Launcher found{size, *started, number_in(rank).value_or(0)};
    if (found.ranks == ranks) return found;
    if (first.variable.empty()) first = std::move(found);
  }
  return first;
}

std::string launcher_warning() {
  const auto problem = launcher_problem();
  return problem ? problem->what() : "";
}

void require_own_launcher() {
  if (const auto problem = launcher_problem()) throw InputError(*problem);
}

}  // namespace commpass
