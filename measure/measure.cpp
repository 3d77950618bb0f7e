// `commpass measure`: runs strategies on real ranks, checks every byte, and compares with the prediction.
#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>
#include <ctime>
#include <optional>

#include "measure/measurement.hpp"
#include "measure/mpi_program.hpp"
#include "measure/pattern_data.hpp"
#include "model/base/error.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/stand_ins.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/message_latency.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/commands/default_profile.hpp"

namespace commpass {
namespace {

/// The input of a measurement, and what rank 0 tells of its profile.
struct Setting {
  Measurement measurement;
  std::string warning;     ///< of rank 0: the profile does not belong here
  std::vector<Pace> pace;  ///< of rank 0: of small messages when the profile was measured
  std::string origin;      ///< of rank 0: how the profile was measured
};

/// @throws InputError if data on devices is to be measured
void require_host_memory(const SelectionArguments& selection, const std::optional<CartesianPattern>& cartesian) {
  if (selection.place() != DataPlace::host)
    throw InputError("--memory device", "it runs exchanges of data in host memory only", "use 'commpass predict'");
  for (const auto& name : selection.strategy_names())
    if (name.find('@') != std::string::npos)
      parse_host_strategy(cartesian ? on_grid(name, cartesian->neighborhood) : name);
}

bool is_on_grid(const MeasureArguments& arguments) { return arguments.cartesian || !arguments.halo.empty(); }
bool is_planned(const MeasureArguments& arguments) {
  return arguments.sparse.empty() && !arguments.one_shot && !is_on_grid(arguments);
}

/// Collective. @throws InputError, the same on every rank
Setting prepare(const MeasureArguments& arguments, Rank rank, int ranks) {
  const auto& selection = arguments.selection;
  Setting setting{{arguments}, {}, {}, {}};
  auto& measurement = setting.measurement;
  std::string profile_json;
  Profile found;
  auto planner = static_cast<int>(PlannerMode::estimate);
  const auto hosts = host_names(MPI_COMM_WORLD);
  auto layout = detect_layout(MPI_COMM_WORLD);
  all_or_none(MPI_COMM_WORLD, [&] {
    arguments.launches.require_none();
    const auto environment = read_environment();
    planner = static_cast<int>(environment.planner.value_or(PlannerMode::estimate));
    measurement.model = selection.cost_model();
    const auto cartesian = arguments.pattern.cartesian();
    require_host_memory(selection, cartesian);
    if (is_on_grid(arguments) && !cartesian)
      throw InputError(arguments.cartesian ? "--cartesian" : "--halo", "the pattern is no Cartesian neighbourhood",
                       "use --generate cartesian:…");
    if (is_planned(arguments)) measurement.planned = selection.named_strategies(cartesian);
    if (const auto given = selection.layout.find(ranks, environment)) {
      layout = *given;
      measurement.layout = places_text(layout);
    }
    measurement.shows_progress =
        rank == 0 &&
        show_progress(arguments.progress.empty() ? environment.progress : parse_progress(arguments.progress));
    if (rank == 0) {
      found = read_profile(find_profile_or_default(selection.profile, environment, fingerprint_here, layout));
      set_parameters(found, selection.settings);
      setting.origin = describe_origin(found, std::time(nullptr));
      setting.pace = pace_of(found);
      profile_json = to_json(found);
    }
    if (arguments.repetitions < 0) throw InputError("--repetitions", "it is negative", "use 1 or more");
  });
  COMMPASS_MPI_CALL(MPI_Bcast, &planner, 1, MPI_INT, 0, MPI_COMM_WORLD);
  measurement.planner = static_cast<PlannerMode>(planner);
  measurement.machine =
      with_stand_ins(parse_profile(broadcast(MPI_COMM_WORLD, profile_json), "profile of rank 0").machine);
  auto here = surroundings_here(layout);
  here.hosts = hosts;
  if (rank == 0) setting.warning = provenance_warning(found, here);
  return setting;
}

void warn(const std::string& warning) {
  if (!warning.empty()) std::fputs(("commpass: " + warning + "\n").c_str(), stderr);
}

/// Warns where times of this launch will differ from predictions: the machine is oversubscribed, or its small messages
/// take another time than when its profile was measured. Collective.
void warn_of_launch(const Setting& setting, Rank rank) {
  const auto crowd = oversubscription_warning(MPI_COMM_WORLD);
  if (rank == 0 && !crowd.empty()) warn(crowd + ".");
  bool is_comparable = crowd.empty() && setting.warning.empty() && !setting.pace.empty();
  COMMPASS_MPI_CALL(MPI_Bcast, &is_comparable, 1, MPI_CXX_BOOL, 0, MPI_COMM_WORLD);
  if (!is_comparable) return;
  const auto& [arguments, machine, layout, model, planned, planner, shows_progress] = setting.measurement;
  const OwnCommunicator own(MPI_COMM_WORLD);
  const auto paces =
      time_message_latencies(own.get(), layout.empty() ? detect_layout(MPI_COMM_WORLD) : parse_layout(layout), machine);
  if (const auto pace = pace_warning(setting.pace, paces); rank == 0 && !pace.empty()) warn(pace + ".");
}

/// Adds what the arguments tell to the context of a report.
void complete(std::vector<std::pair<std::string, std::string>>& context, const MeasureArguments& arguments) {
  const bool is_halo = !arguments.halo.empty();  // its context has the grid and the array
  if (!is_halo) context.emplace_back("pattern", arguments.pattern.describe());
  arguments.selection.add_settings(context);
  if (is_planned(arguments)) context.emplace_back("memory", arguments.selection.memory);
}

void measure(const MeasureArguments& arguments) {
  require_own_launcher();
  const Rank rank = rank_in(MPI_COMM_WORLD);
  const int ranks = ranks_in(MPI_COMM_WORLD);
  const auto setting = prepare(arguments, rank, ranks);
  const auto& measurement = setting.measurement;
  if (rank == 0) arguments.selection.layout.warn_uneven(ranks);
  Pattern pattern;
  if (!is_on_grid(arguments)) pattern = read_together(arguments.pattern, rank, ranks);
  warn_of_launch(setting, rank);
  if (is_planned(arguments)) {
    auto [report, explanation] = measure_planned(measurement, pattern);
    if (rank != 0) return;
    warn(setting.warning);
    complete(report.context, arguments);
    return arguments.selection.format.print(document_of(report, arguments.selection.top),
                                            explanation.empty() ? explanation : explanation + setting.origin);
  }
  auto report = arguments.cartesian       ? measure_cartesian(measurement, *arguments.pattern.cartesian())
                : !arguments.halo.empty() ? measure_halo(measurement, *arguments.pattern.cartesian())
                : arguments.one_shot      ? measure_one_shot(measurement, pattern)
                                          : measure_sparse(measurement, pattern);
  if (rank != 0) return;
  warn(setting.warning);
  complete(report.context, arguments);
  arguments.selection.format.print(document_of(report));
}

}  // namespace
}  // namespace commpass

int main(int argc, char** argv) {
  commpass::MeasureArguments arguments;
  commpass::Command command{
      "commpass measure",
      "Runs strategies on real ranks and compares with the prediction: mpirun -n N commpass measure …"};
  arguments.add_to(command);
  command.run = [&] { commpass::measure(arguments); };
  return commpass::run_mpi_command(command, argc, argv);
}
