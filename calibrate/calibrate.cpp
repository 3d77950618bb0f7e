#include "calibrate/calibrate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "calibrate/calibration.hpp"
#include "calibrate/devices.hpp"
#include "calibrate/fit/verdict.hpp"
#include "model/base/error.hpp"
#include "model/machine/profile_origin.hpp"
#include "model/median.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/message_latency.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// A random word by which this calibration differs from others.
std::string draw_salt() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

Calibration::Calibration(MPI_Comm user_comm, const Layout& ranks_layout, const CalibrationOptions& user_options,
                         Memory& memory)
    : machine(machine_like(ranks_layout, user_options.name)),
      layout(ranks_layout.on(machine)),
      plan(plan_calibration(layout, machine)),
      options(user_options),
      comm(user_comm),
      bench(comm.get(), options.largest_bytes, memory),
      sampler(comm.get(), options.budget_s) {
  const auto add = [&](Level level) {
    auto& found = pairs_by_level[level] = disjoint_pairs(layout, level);
    if (!found.empty()) return levels.push_back(level);
    has_ranks_for(level_key(level, "host"));
  };
  for (Level level = 0; level <= layout.node_level(); ++level) add(level);
  add(layout.outermost());  // the messages of all levels outside nodes
}

std::string Calibration::host_key(Level level, const std::string& key) const {
  return fmt::format("levels.{}.host.{}", name_of(level), key);
}

std::string Calibration::level_key(Level level, const char* key) const {
  return fmt::format("levels.{}.{}", name_of(level), key);
}

std::string Calibration::shared_rate_key(Level level) const {
  return level == layout.outermost() ? level_key(layout.node_level(), "up_rate_bytes_per_s")
                                     : host_key(level, "aggregate_rate_bytes_per_s");
}

bool Calibration::has_ranks_for(const std::string& parameters) {
  const auto& needs = experiment_for(parameters, plan).needs;
  if (!needs.empty()) not_measured(fmt::format("{}: needs {}", parameters, needs));
  return needs.empty();
}

void Calibration::progress(const std::string& what) const {
  if (comm.rank() == 0 && options.progress) options.progress(what, sampler.spent());
}

namespace {

/// Sets the facts that are known before the experiments. Collective.
void begin_provenance(Calibration& calibration) {
  auto& provenance = calibration.provenance;
  provenance.fingerprint = fingerprint_here();
  const auto here = surroundings_here(calibration.layout);
  provenance.mpi_library = here.mpi_library;
  provenance.transport = *here.transport;
  provenance.partition = here.partition;
  provenance.ranks_per_node = here.ranks_per_node;
  provenance.layout = calibration.layout.describe();
  provenance.nodes = calibration.layout.nodes();
  provenance.ranks = calibration.layout.ranks();
  provenance.host_hash = host_hash(host_names(calibration.comm.get()), draw_salt());
  provenance.warning = oversubscription_warning(calibration.comm.get());
}

/// Runs a part; undoes it if the budget is spent.
/// @param parameters  of the part
/// @return was there time?
bool measure_in_time(Calibration& calibration, const std::string& parameters, const std::function<void()>& measure) {
  auto machine = calibration.machine;
  auto provenance = calibration.provenance;
  try {
    calibration.sampler.check_time();
    measure();
    return true;
  } catch (const NoTimeLeft&) {
    calibration.machine = std::move(machine);
    calibration.provenance = std::move(provenance);
    calibration.provenance.no_time_for.push_back(parameters);
    calibration.not_measured(parameters + ": no time was left of the budget");
    return false;
  }
}

/// Runs all parts in their order, and times lone messages after each.
void measure_parts(Calibration& calibration) {
  const auto time_latency = [&calibration] {
    calibration.latencies.push_back(
        time_message_latencies(calibration.comm.get(), calibration.layout, calibration.machine));
  };
  const auto part = [&](const std::string& parameters, auto measure, const auto&... arguments) {
    if (measure_in_time(calibration, parameters, [&] { measure(calibration, arguments...); })) time_latency();
  };
  const auto part_of_each = [&](const char* parameters, auto measure) {
    for (const auto level : calibration.levels) part(calibration.host_key(level, parameters), measure, level);
  };
  const auto shared_part = [&](const char* parameters, auto measure, const Share& share) {
    for (const auto level : calibration.levels)
      part(calibration.host_key(level, parameters), measure, level, share.of(level, calibration.levels));
  };
  const auto& layout = calibration.layout;
  time_latency();
  part("slow_nodes", find_slow_nodes);
  part("operations.new_send_bytes", measure_new_sends);
  part("levels.*.host", measure_protocols);
  calibration.sampler.end_with_budget();  // without ping-pongs there is no profile
  part_of_each("rendezvous_from_bytes", find_rendezvous);
  shared_part("alpha_next_s", measure_bursts, burst_share);
  for (const auto level : calibration.levels) part(calibration.shared_rate_key(level), measure_sharing, level);
  for (const auto level : levels_with_others_within(layout))
    part(calibration.level_key(level, "inside_rate_bytes_per_s"), measure_inside, level);
  part(calibration.level_key(layout.outermost(), "node_share_bytes_per_s"), measure_core);
  part("groups of nodes", measure_groups);
  part(calibration.level_key(layout.node_level(), "down_rate_bytes_per_s"), measure_ejection);
  shared_part("alpha_receive_s", measure_receiving, receive_share);
  part("local.copy_rate_bytes_per_s", measure_copies);
  part("local.value_run_s", measure_value_loops);
  part("local.reduction_rate_bytes_per_s", measure_reductions);
  part("local.datatype_rate_bytes_per_s", measure_datatypes);
  part("operations", measure_operations);
  part("operations.neighbor_alltoall_s", measure_neighborhood);
  part("operations.alltoallv_s", measure_alltoallv);
  part("limits.messages_off_node", measure_messages_in_flight);
  hold_to_physics(calibration);
  part("operations.batch_s", measure_calls);
  part("operations.skew_s", measure_skew);
  const auto near = levels_within_nodes(calibration.levels, layout);
  for (Level level = 0; level <= layout.node_level(); ++level)
    if (calibration.has_ranks_for(calibration.level_key(level, "shared")))
      part(calibration.level_key(level, "shared"), measure_node_memory, level, memory_share.of(level, near));
  part("held_out", check_held_out);
}

/// The median latency of each level.
std::vector<Pace> median_latencies(const std::vector<std::vector<Pace>>& latencies) {
  auto medians = latencies.front();
  for (std::size_t i = 0; i < medians.size(); ++i) {
    std::vector<double> seconds;
    for (const auto& paces : latencies) seconds.push_back(paces[i].seconds);
    medians[i].seconds = median(std::move(seconds));
  }
  return medians;
}

/// The slow parts: those with a slow latency before or after them. @param fastest_s  of all turns so far
SlowPhases slow_phases(const std::vector<Seconds>& latencies, Seconds fastest_s) {
  SlowPhases found{0, static_cast<int>(latencies.size()) - 1, std::ranges::max(latencies) / fastest_s};
  for (std::size_t i = 1; i < latencies.size(); ++i)
    found.parts += std::max(latencies[i - 1], latencies[i]) > another_pace * fastest_s;
  return found;
}

/// The results of one turn through all parts.
struct Turn {
  Machine machine;
  Provenance provenance;
  std::vector<Seconds> latencies;  ///< of the nearest ranks
};

Turn take_turn(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options) {
  Calibration calibration(comm, layout, options);
  begin_provenance(calibration);
  if (!calibration.provenance.warning.empty()) calibration.progress(calibration.provenance.warning);
  measure_parts(calibration);
  calibration.provenance.samples = calibration.sampler.count();
  calibration.provenance.disturbed_rounds = calibration.sampler.disturbed_rounds();
  calibration.provenance.pace = median_latencies(calibration.latencies);
  calibration.provenance.elapsed_s = calibration.sampler.elapsed();
  COMMPASS_MPI_CALL(MPI_Bcast, &calibration.provenance.elapsed_s, 1, MPI_DOUBLE, 0, calibration.comm.get());
  Turn turn{std::move(calibration.machine), std::move(calibration.provenance), {}};
  for (const auto& paces : calibration.latencies) turn.latencies.push_back(paces.front().seconds);
  return turn;
}

/// Takes turns while some parts are slow and the budget allows. @return the turn with the fewest slow parts
Turn take_turns(MPI_Comm comm, const Layout& layout, CalibrationOptions options) {
  std::vector<Turn> turns;
  auto fastest = std::numeric_limits<Seconds>::infinity();
  for (;;) {
    const auto& last = turns.emplace_back(take_turn(comm, layout, options));
    fastest = std::min(fastest, std::ranges::min(last.latencies));
    for (auto& turn : turns) turn.provenance.slow_phases = slow_phases(turn.latencies, fastest);
    const auto is_slower = [](const Turn& a, const Turn& b) {
      return a.provenance.slow_phases.parts < b.provenance.slow_phases.parts;
    };
    auto& best = *std::ranges::min_element(turns, is_slower);
    options.budget_s -= last.provenance.elapsed_s;
    if (best.provenance.slow_phases.parts > 0 && options.budget_s > last.provenance.elapsed_s / 2) {
      if (rank_in(comm) == 0 && options.progress) options.progress("again, since the machine changed its speed", 0);
      continue;
    }
    // One fast turn does not make the machine steady.
    best.provenance.slow_phases = std::ranges::max_element(turns, is_slower)->provenance.slow_phases;
    return std::move(best);
  }
}

/// Options for a part of the budget.
CalibrationOptions part_of(CalibrationOptions options, double begin, double end) {
  options.budget_s *= end - begin;
  if (options.progress)
    options.progress = [tell = options.progress, begin, end](const std::string& what, double fraction) {
      tell(what, begin + (end - begin) * fraction);
    };
  return options;
}

/// Measures devices, and adds their parameters to those of host memory. Collective.
void add_devices(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options, const NodeDevices& devices,
                 Machine& machine, Provenance& provenance) {
  Calibration calibration(comm, layout, options);
  calibration.machine = std::move(machine);
  calibration.provenance = std::move(provenance);
  measure_devices(calibration, devices);
  machine = std::move(calibration.machine);
  provenance = std::move(calibration.provenance);
  provenance.samples += calibration.sampler.count();
  provenance.elapsed_s += calibration.sampler.elapsed();
}

}  // namespace

CalibrationResult calibrate(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options) {
  if (layout.ranks() < 2)
    throw InputError("calibrate", "it has one rank, and messages need two", "run 'mpirun -n 2 commpass calibrate …'");
  const OwnCommunicator own(comm);
  const auto devices = find_node_devices(own.get(), layout);
  Turn turn;
  const double others = beside_others(
      own.get(), [&] { turn = take_turns(own.get(), layout, part_of(options, 0, devices ? 1 - devices_part : 1)); });
  auto& [machine, provenance, latencies] = turn;
  provenance.others = others;
  machine.verdict = judge(provenance);
  if (devices) add_devices(own.get(), layout, part_of(options, 1 - devices_part, 1), devices, machine, provenance);
  else provenance.not_measured.push_back("device, copy, devices: " + devices.why_none);
  // Rank 0's: dates, clocks and salts differ.
  const auto json = to_json(Profile{machine, to_json(provenance)});
  auto held_out = provenance.held_out;
  if (const auto& on = provenance.device) held_out.insert(held_out.end(), on->held_out.begin(), on->held_out.end());
  return {parse_profile(broadcast(own.get(), json), "calibration"), std::move(held_out), provenance.slow_nodes,
          provenance.no_time_for, provenance.measured_again};
}

}  // namespace commpass
