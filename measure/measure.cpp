// commpass measure: runs strategies on real ranks, checks every byte, and compares with the prediction.
#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>
#include <ctime>
#include <optional>

#include "measure/cartesian.hpp"
#include "measure/halo.hpp"
#include "measure/mpi_program.hpp"
#include "measure/one_shot.hpp"
#include "measure/pattern_data.hpp"
#include "measure/planned.hpp"
#include "measure/sparse.hpp"
#include "model/base/error.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/stand_ins.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/crowd_warning.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/fingerprint.hpp"
#include "runtime/mpi/host_names.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/lone_messages.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/surroundings.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/measure_arguments.hpp"

namespace commpass {
namespace {

/// What every rank reads alike before anything is measured, and rank 0's profile.
struct Setting {
  Environment environment;
  CostModel model{};
  std::vector<Strategy> strategies;  ///< of planned exchanges
  std::optional<Layout> layout;
  Machine machine;
  std::string warning;     ///< of rank 0: the profile does not belong here
  std::vector<Pace> pace;  ///< of rank 0: of small messages when the profile was measured
  std::string origin;      ///< of rank 0: what the profile was measured with
  bool shown = false;      ///< progress
};

/// @throws InputError if data on devices is to be measured
void require_host_memory(const SelectionArguments& selection, const std::optional<CartesianPattern>& cartesian) {
  if (selection.place() != DataPlace::host)
    throw InputError("--memory device", "it runs exchanges of data in host memory only", "use 'commpass predict'");
  for (const auto& name : selection.strategy_names())
    if (name.find('@') != std::string::npos)
      parse_host_strategy(cartesian ? on_grid(name, cartesian->neighborhood) : name);
}

/// Collective. @throws InputError, the same on every rank
Setting prepare(const MeasureArguments& arguments, Rank rank, int ranks) {
  const auto& selection = arguments.selection;
  Setting setting;
  std::string profile_json;
  Profile found;
  const auto hosts = host_names(MPI_COMM_WORLD);
  const auto detected = detect_layout(MPI_COMM_WORLD);
  all_or_none(MPI_COMM_WORLD, [&] {
    arguments.launches.require_none();
    setting.environment = read_environment();
    setting.model = selection.cost_model();
    const auto cartesian = arguments.pattern.cartesian();
    require_host_memory(selection, cartesian);
    if ((arguments.cartesian || !arguments.halo.empty()) && !cartesian)
      throw InputError(arguments.cartesian ? "--cartesian" : "--halo", "the pattern is no Cartesian neighbourhood",
                       "use --generate cartesian:…");
    if (arguments.sparse.empty() && !arguments.one_shot && !arguments.cartesian && arguments.halo.empty())
      setting.strategies = selection.named_strategies(cartesian);
    setting.layout = selection.layout.find(ranks, setting.environment);
    setting.shown = rank == 0 && show_progress(arguments.progress.empty() ? setting.environment.progress
                                                                          : parse_progress(arguments.progress));
    if (rank == 0) {
      found = read_profile(find_profile_or_default(selection.profile, setting.environment, fingerprint_here(),
                                                   setting.layout ? *setting.layout : detected));
      set_parameters(found, selection.settings);
      setting.origin = describe_origin(found, std::time(nullptr));
      setting.pace = pace_of(found);
      profile_json = to_json(found);
    }
    if (arguments.repetitions < 0) throw InputError("--repetitions", "it is negative", "use 1 or more");
  });
  setting.machine = with_stand_ins(parse_profile(broadcast(MPI_COMM_WORLD, profile_json), "profile of rank 0").machine);
  auto here = surroundings_here(setting.layout ? *setting.layout : detected);
  here.hosts = hosts;
  if (rank == 0) setting.warning = provenance_warning(found, here);
  return setting;
}

/// Beside results only: an error is one sentence.
void tell(const std::string& warning) {
  if (!warning.empty()) std::fputs(("commpass: " + warning + "\n").c_str(), stderr);
}

/// What makes times of this launch others than those that are predicted: ranks that take turns, or a machine that is in
/// another state than when its profile was measured. Collective.
void tell_of_launch(const Setting& setting, Rank rank) {
  const auto crowd = crowd_warning(MPI_COMM_WORLD);
  if (rank == 0 && !crowd.empty()) tell(crowd + ".");
  bool is_comparable = crowd.empty() && setting.warning.empty() && !setting.pace.empty();
  COMMPASS_MPI_CALL(MPI_Bcast, &is_comparable, 1, MPI_CXX_BOOL, 0, MPI_COMM_WORLD);
  if (!is_comparable) return;
  const OwnCommunicator own(MPI_COMM_WORLD);
  const auto paces =
      time_lone_messages(own.get(), setting.layout ? *setting.layout : detect_layout(MPI_COMM_WORLD), setting.machine);
  if (const auto pace = pace_warning(setting.pace, paces); rank == 0 && !pace.empty()) tell(pace + ".");
}

/// Exchanges that are called once, and sparse ones.
void measure_calls(const MeasureArguments& arguments, const Setting& setting, const Pattern& pattern) {
  const auto& selection = arguments.selection;
  int planner = static_cast<int>(setting.environment.planner.value_or(PlannerMode::estimate));
  COMMPASS_MPI_CALL(MPI_Bcast, &planner, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const auto mode = static_cast<PlannerMode>(planner);
  auto report =
      arguments.one_shot
          ? measure_one_shot({setting.machine, setting.layout, selection.strategy_names(), arguments.repetitions,
                              arguments.alltoall ? BlockSizes::equal : BlockSizes::told, setting.shown, mode},
                             pattern)
          : measure_sparse({setting.machine, setting.layout, arguments.sparse == "constant", selection.strategy_names(),
                            arguments.repetitions, setting.shown, mode},
                           pattern);
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  tell(setting.warning);
  report.context.emplace_back("pattern", arguments.pattern.describe());
  arguments.selection.add_settings(report.context);
  selection.print(report);
}

void measure_plans(const MeasureArguments& arguments, const Setting& setting, const Pattern& pattern) {
  const auto& selection = arguments.selection;
  auto [report, explanation] =
      measure_planned({setting.machine, setting.layout, setting.model, setting.strategies, selection.calls,
                       arguments.repetitions, arguments.verify, arguments.baseline, selection.explain, setting.shown},
                      pattern);
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  tell(setting.warning);
  report.context.emplace_back("pattern", arguments.pattern.describe());
  arguments.selection.add_settings(report.context);
  report.context.emplace_back("memory", selection.memory);
  selection.print(report, explanation.empty() ? explanation : explanation + setting.origin);
}

void measure_neighborhood(const MeasureArguments& arguments, const Setting& setting) {
  const auto& selection = arguments.selection;
  auto report = measure_cartesian({setting.machine, setting.layout, setting.model, selection.strategy_names(),
                                   arguments.repetitions, setting.shown, arguments.reorder},
                                  *arguments.pattern.cartesian());
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  tell(setting.warning);
  report.context.emplace_back("pattern", arguments.pattern.describe());
  arguments.selection.add_settings(report.context);
  selection.print(report);
}

void measure_array(const MeasureArguments& arguments, const Setting& setting) {
  const auto cartesian = *arguments.pattern.cartesian();
  const auto& grid = cartesian.neighborhood.grid;
  HaloArray array;
  all_or_none(MPI_COMM_WORLD, [&] {
    array = parse_halo(arguments.halo, arguments.depth, std::ranges::max(cartesian.sizes.bytes), grid);
  });
  auto report =
      measure_halo({setting.machine, setting.layout, setting.model, arguments.repetitions, setting.shown}, grid, array);
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  tell(setting.warning);
  arguments.selection.add_settings(report.context);
  arguments.selection.print(report);
}

void measure(const MeasureArguments& arguments) {
  require_own_launcher();
  const Rank rank = rank_in(MPI_COMM_WORLD);
  const int ranks = ranks_in(MPI_COMM_WORLD);
  const auto setting = prepare(arguments, rank, ranks);
  if (rank == 0) arguments.selection.layout.warn_uneven(ranks);
  if (arguments.cartesian || !arguments.halo.empty()) {
    tell_of_launch(setting, rank);
    return arguments.cartesian ? measure_neighborhood(arguments, setting) : measure_array(arguments, setting);
  }
  const auto pattern = read_together(arguments.pattern, rank, ranks);
  tell_of_launch(setting, rank);
  const bool is_planned = arguments.sparse.empty() && !arguments.one_shot;
  (is_planned ? measure_plans : measure_calls)(arguments, setting, pattern);
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
