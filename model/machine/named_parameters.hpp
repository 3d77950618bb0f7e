// The parameters that one machine has, by their full names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/parameters.hpp"
#include "model/machine/profile.hpp"

namespace commpass {

/// A parameter of one machine.
struct NamedParameter {
  std::string name;  ///< "levels.network.host.eager.alpha_s", "copy.device_to_host.4_processes.alpha_s"
  const MachineParameter* parameter;
  void* owner;

  ParameterValue get() const { return parameter->access.get(owner); }
  void set(const ParameterValue& value) const { parameter->access.set(owner, value); }
};

/// All that the machine has or may have: of each of its levels, channels, protocols and copies every row, the absent
/// ones, too. Valid while the machine lives and its lists do not grow.
std::vector<NamedParameter> named_parameters(Machine& machine);

/// Does the pattern match the name, where each '*' stands for one part of it?
bool matches_parameter(std::string_view pattern, std::string_view name);

/// Sets parameters of a profile, absent ones, too. Each text is KEY=VALUE, KEY=*FACTOR (or KEY*FACTOR) or KEY=+SUMMAND,
/// where KEY is a name, a pattern of names, or some parts of names with the last one: "network.alpha_s" is
/// "levels.network.*.*.alpha_s", and "node.up_rate_bytes_per_s" that of the level, which is shorter than
/// those of its protocols. A factor or a summand leaves
/// absent ones absent. Sizes may have units.
/// @param option  the switch that errors name
/// @throws InputError where nothing matches, or where a profile with the value would be refused
void set_parameters(Profile& profile, const std::vector<std::string>& assignments, const std::string& option = "--set");

/// Limits with others in the place of some: "messages_off_node=32,partners=100".
/// @throws InputError for another key or value
Limits parse_limits(const std::string& text, Limits limits = {});

}  // namespace commpass
