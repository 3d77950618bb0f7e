#include "model/machine/stand_ins.hpp"

#include <fmt/core.h>

#include <algorithm>
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
  using enum MachineParameter::Unit;
  const auto tell = [&](const char* what, MachineParameter::Unit unit, double value, const std::string& more) {
    machine.stand_ins.push_back(fmt::format("{}, taken for {}{}", what, format_parameter(unit, value), more));
  };
  if (!machine.copy_block_s && !std::isfinite(machine.copy_rate_bytes_per_s)) {
    machine.copy_rate_bytes_per_s = near_rate_bytes_per_s(machine).value_or(typical_near_rate_bytes_per_s);
    machine.copy_block_s = typical_copy_block_s;
    tell("local copies", bytes_per_second, machine.copy_rate_bytes_per_s, " and 20 ns a piece");
  }
  const auto* channel = machine.host.find(machine.outermost());
  if (machine.verdict || machine.node_level() == machine.outermost() || !channel) return machine;
  auto& injection = machine.levels[machine.node_level()].up_rate_bytes_per_s;
  if (const double beta = channel->least_beta(); beta > 0 && !std::isfinite(injection)) {
    injection = typical_injecting_messages / beta;
    tell("what a node injects", bytes_per_second, injection, "");
  }
  bool has_typical_bursts = false;
  for (auto* const channels : {&machine.host, &machine.device})
    for (Level level = machine.node_level() + 1; level <= machine.outermost(); ++level) {
      if (!channels->has(level)) continue;
      auto& protocols = channels->by_level[level]->protocols;
      const auto is_absent = [](const Protocol& protocol) { return protocol.alpha_next_s == protocol.alpha_s; };
      if (!std::ranges::all_of(protocols, is_absent)) continue;
      for (auto& protocol : protocols) protocol.alpha_next_s *= typical_next_alpha_ratio;
      has_typical_bursts = true;
    }
  if (has_typical_bursts)
    machine.stand_ins.push_back(
        fmt::format("further messages of bursts between nodes, taken for {}·α", typical_next_alpha_ratio));
  auto& skew_s = machine.operations.skew_s;
  if (const double alpha_s = channel->protocols.front().alpha_s; alpha_s > 0 && !skew_s) {
    skew_s = typical_skew_alpha_ratio * alpha_s;
    tell("waits between rounds", seconds, *skew_s, " times √ranks");
  }
  return machine;
}

}  // namespace commpass
