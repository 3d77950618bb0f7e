// What the parts found on their own, held to what they say together.
#include <cmath>

#include <limits>

#include "calibrate/calibration.hpp"

namespace commpass {

void hold_to_physics(Calibration& calibration) {
  auto& machine = calibration.machine;
  const double memory = calibration.layout.max_ppn() * machine.copy_rate_bytes_per_s;
  const auto hold = [&](const std::string& what, double& rate) {
    if (!std::isfinite(rate) || rate <= memory) return;
    rate = std::numeric_limits<double>::infinity();
    calibration.not_measured(what + ": found to be more than the copies of all ranks of a node move");
  };
  for (Level level = 0; level <= calibration.layout.node_level(); ++level) {
    if (auto& channel = machine.host.by_level[level])
      hold(calibration.host_key(level, "aggregate_rate_bytes_per_s"), channel->aggregate_rate_bytes_per_s);
    hold(calibration.level_key(level, "inside_rate_bytes_per_s"), machine.levels[level].inside_rate_bytes_per_s);
  }
}

}  // namespace commpass
