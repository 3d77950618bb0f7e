// The plan of a calibration: its experiments in their order, the ranks of each, its part of the budget, and why a
// layout does not allow it. No MPI.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// The part of the budget in which a step runs. It ends then, even if times are not settled.
struct Share {
  double begin = 0, end = 0;

  double middle() const { return (begin + end) / 2; }
  double length() const { return end - begin; }
  /// The share of one of `all` levels, which share evenly.
  Share of(Level level, const std::vector<Level>& all) const;
};
// The rest behind held_out_share is for measuring again.
inline constexpr Share node_share{0, 0.02}, request_share{0.02, 0.03}, ping_pong_share{0.03, 0.37},
    switch_share{0.37, 0.51}, burst_share{0.51, 0.6}, sharing_share{0.6, 0.65}, bus_share{0.65, 0.66},
    core_share{0.66, 0.67}, ejection_share{0.67, 0.69}, receive_share{0.69, 0.77}, copy_share{0.77, 0.78},
    value_share{0.78, 0.79}, datatype_share{0.79, 0.81}, operation_share{0.81, 0.84}, collective_share{0.84, 0.85},
    alltoallv_share{0.85, 0.86}, visits_share{0.86, 0.865}, flight_share{0.865, 0.87}, calls_share{0.87, 0.875},
    skew_share{0.875, 0.88}, held_out_share{0.88, 0.93};

/// One experiment.
struct Experiment {
  std::string parameters;  ///< that it identifies, as "levels.node.host.alpha_next_s"
  const char* method = "";
  int ranks = 0;           ///< that are busy at once, at most
  double budget_part = 0;  ///< at most; it ends earlier when its times are known to 3 %
  std::string needs;       ///< that the layout lacks: "two nodes"; empty: nothing
};

/// All experiments of host memory, also those that the layout lacks ranks for. The rest of the budget is for measuring
/// again.
/// @param layout   on() the machine
/// @param machine  with levels alone
std::vector<Experiment> plan_calibration(const Layout& layout, const Machine& machine);

/// @throws std::out_of_range if there is none for the parameters
const Experiment& experiment_for(const std::string& parameters, std::span<const Experiment> plan);

/// A machine with the levels of a layout and no parameters.
/// @throws InputError if no profile can have these levels
Machine machine_like(const Layout& layout, const std::string& name);

/// The levels up to nodes that contain other levels; nodes at least.
std::vector<Level> levels_with_others_within(const Layout& layout);
/// The levels of groups of nodes: between nodes and the outermost level.
std::vector<Level> levels_of_groups(const Layout& layout);

}  // namespace commpass
