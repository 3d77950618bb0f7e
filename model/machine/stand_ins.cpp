#include "model/machine/stand_ins.hpp"

#include <fmt/core.h>

#include <cmath>

#include "model/machine/parameters.hpp"

namespace commpass {

std::optional<double> near_rate_bytes_per_s(const Machine& machine) {
  constexpr Bytes bytes = Bytes{64} << 10;  // a message that is copied, and whose latency does not count for much
  for (Level level = 0; level <= machine.node_level(); ++level)
    if (machine.host.has(level)) {
      const auto size = static_cast<double>(bytes);
      return size / machine.host.by_level[level]->protocol(bytes).alone_seconds(size);
    }
  return std::nullopt;
}

Machine with_stand_ins(Machine machine) {
  const auto tell = [&](const char* what, double rate, const std::string& more) {
    machine.stand_ins.push_back(fmt::format("{}, taken for {}{}", what,
                                            format_parameter(MachineParameter::Unit::bytes_per_second, rate), more));
  };
  if (!machine.copy_block_s && !std::isfinite(machine.copy_rate_bytes_per_s)) {
    machine.copy_rate_bytes_per_s = near_rate_bytes_per_s(machine).value_or(typical_near_rate_bytes_per_s);
    machine.copy_block_s = typical_copy_block_s;
    tell("local copies", machine.copy_rate_bytes_per_s, " and 20 ns a piece");
  }
  auto& injection = machine.levels[machine.node_level()].up_rate_bytes_per_s;
  if (const auto* channel = machine.host.find(machine.outermost());
      !machine.verdict && machine.node_level() < machine.outermost() && channel && !std::isfinite(injection))
    if (const double beta = channel->least_beta(); beta > 0) {
      injection = typical_injecting_messages / beta;
      tell("what a node injects", injection, "");
    }
  return machine;
}

}  // namespace commpass
