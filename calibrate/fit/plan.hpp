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
inline constexpr Share node_share{0, 0.02}, request_share{0.02, 0.03}, ping_pong_share{0.03, 0.34},
    switch_share{0.34, 0.48}, burst_share{0.48, 0.57}, sharing_share{0.57, 0.62}, bus_share{0.62, 0.63},
    core_share{0.63, 0.64}, ejection_share{0.64, 0.66}, receive_share{0.66, 0.74}, copy_share{0.74, 0.75},
    value_share{0.75, 0.755}, reduction_share{0.755, 0.76}, datatype_share{0.76, 0.78}, operation_share{0.78, 0.81},
    collective_share{0.81, 0.82}, alltoallv_share{0.82, 0.83}, visits_share{0.83, 0.835}, flight_share{0.835, 0.84},
    calls_share{0.84, 0.845}, skew_share{0.845, 0.85}, memory_share{0.85, 0.88}, held_out_share{0.88, 0.93};

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

/// Those of the levels whose ranks share a node.
std::vector<Level> levels_within_nodes(std::vector<Level> levels, const Layout& layout);

/// The levels up to nodes that contain other levels; nodes at least.
std::vector<Level> levels_with_others_within(const Layout& layout);
/// The levels of groups of nodes: between nodes and the outermost level.
std::vector<Level> levels_of_groups(const Layout& layout);

}  // namespace commpass
