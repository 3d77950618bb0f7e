// What the parts found on their own, held to what they say together.
#include <fmt/core.h>
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
  for (const auto level : {standard_level::socket, standard_level::node})
    if (auto& channel = machine.host.by_level[level])
      hold(fmt::format("host.{}.aggregate_rate_bytes_per_s", standard_level::name(level)),
           channel->aggregate_rate_bytes_per_s);
  hold("bus", machine.levels[standard_level::node].inside_rate_bytes_per_s);
}

}  // namespace commpass
