#include "model/machine/named_parameters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "model/base/error.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

using Place = MachineParameter::Place;

/// KEY=VALUE, KEY=*FACTOR, KEY*FACTOR or KEY=+SUMMAND.
struct Assignment {
  enum class Kind { value, factor, summand };
  std::string pattern, number;
  Kind kind = Kind::value;
};

Assignment parse_assignment(const std::string& text, const std::string& where) {
  const auto place = text.find('=') != std::string::npos ? text.find('=') : text.rfind('*');
  if (place == std::string::npos || place == 0 || place + 1 == text.size())
    throw InputError(where, "it sets nothing", "use KEY=VALUE, KEY=*FACTOR or KEY=+SUMMAND");
  Assignment result{text.substr(0, place), text.substr(place + 1),
                    text[place] == '*' ? Assignment::Kind::factor : Assignment::Kind::value};
  if (text[place] == '=' && (result.number.front() == '*' || result.number.front() == '+')) {
    result.kind = result.number.front() == '*' ? Assignment::Kind::factor : Assignment::Kind::summand;
    result.number.erase(0, 1);
  }
  return result;
}

ParameterValue parse_value(const MachineParameter& parameter, const std::string& text) {
  if (parameter.unit == MachineParameter::Unit::bytes) {
    if (const auto bytes = parse_bytes(text)) return *bytes;
  } else if (parameter.is_integer()) {
    if (const auto integer = parse_number<std::int64_t>(text)) return *integer;
  } else if (const auto number = parse_number<double>(text)) {
    return *number;
  }
  return {};
}

ParameterValue changed(const MachineParameter& parameter, const ParameterValue& value, Assignment::Kind kind,
                       double number) {
  const double result = kind == Assignment::Kind::factor ? to_double(value) * number : to_double(value) + number;
  if (!parameter.is_integer()) return result;
  constexpr double most_exact = 1LL << 53;
  return result >= 0 && result < most_exact ? ParameterValue(static_cast<std::int64_t>(result)) : ParameterValue();
}

}  // namespace

std::vector<NamedParameter> named_parameters(Machine& machine) {
  std::vector<NamedParameter> result;
  const auto add = [&](Place place, const std::string& above, void* owner) {
    for (const auto& row : parameters_of(place)) result.push_back({above + row.key, &row, owner});
  };
  const auto node = machine.node_level();
  for (Level i = 0; i < machine.levels.size(); ++i) {
    auto& level = machine.levels[i];
    const auto above = "levels." + level.name + ".";
    for (const auto& [memory, channels] : {std::pair("host.", &machine.host), std::pair("shared.", &machine.shared),
                                           std::pair("device.", &machine.device)}) {
      if (!channels->has(i)) continue;
      for (auto& protocol : channels->by_level[i]->protocols)
        add(Place::protocol, above + memory + protocol.name + ".", &protocol);
      add(Place::channel, above + memory, &*channels->by_level[i]);
    }
    for (const auto& row : parameters_of(Place::level))
      if (is_of_level(row, i, node, machine.outermost())) result.push_back({above + row.key, &row, &level});
  }
  for (const auto& [above, copies] : {std::pair("copy.device_to_host.", &machine.device_to_host),
                                      std::pair("copy.host_to_device.", &machine.host_to_device)})
    for (auto& copy : *copies) add(Place::copy, fmt::format("{}{}_processes.", above, copy.processes), &copy);
  add(Place::devices, "devices.", &machine);
  add(Place::local, "local.", &machine);
  add(Place::operations, "operations.", &machine.operations);
  add(Place::limits, "limits.", &machine.limits);
  return result;
}

bool matches_parameter(std::string_view pattern, std::string_view name) {
  return std::ranges::equal(split(pattern, '.'), split(name, '.'),
                            [](const auto& part, const auto& of_name) { return part == "*" || part == of_name; });
}

namespace {

/// As did_you_mean, of whole names; where none is near, of keys: "alpha_next" is one of levels.*.host.*.alpha_next_s.
std::string did_you_mean_parameter(const std::string& pattern, const std::vector<std::string>& names) {
  if (auto near = did_you_mean(pattern, names); !near.empty()) return near;
  std::vector<std::string> keys, patterns;
  for (const auto& row : machine_parameters()) keys.emplace_back(row.key);
  const auto key = pattern.substr(pattern.rfind('.') + 1);
  for (const auto& near : nearest_names(key, keys))
    for (auto& each : patterns_of_key(near))
      if (std::ranges::find(patterns, each) == patterns.end()) patterns.push_back(std::move(each));
  return patterns.empty() ? std::string() : "did you mean " + either_of(patterns) + "? ";
}

/// Does the key have some parts of the name, in their order, the last one among them?
bool abbreviates(std::string_view key, std::string_view name) {
  const auto parts = split(key, '.'), of_name = split(name, '.');
  if (parts.back() != of_name.back()) return false;
  auto part = parts.begin();
  for (const auto& each : of_name)
    if (part != parts.end() && (*part == "*" || *part == each)) ++part;
  return part == parts.end();
}

/// Those that the key matches; where there are none, those that it abbreviates, of levels, of copies and so on the
/// shortest.
std::vector<NamedParameter> find_named(std::vector<NamedParameter> all, const std::string& key) {
  const auto depth = [](const NamedParameter& each) { return std::ranges::count(each.name, '.'); };
  auto found = all;
  std::erase_if(found, [&](const NamedParameter& each) { return !matches_parameter(key, each.name); });
  if (!found.empty()) return found;
  // "levels.…" is a whole name, in which a mistake is to be told.
  std::erase_if(all,
                [&](const NamedParameter& each) { return key.starts_with("levels.") || !abbreviates(key, each.name); });
  // A level may have a parameter of the same key as its protocols, and is meant then.
  const auto branch = [](const NamedParameter& each) { return each.name.substr(0, each.name.find('.')); };
  std::map<std::string, std::ptrdiff_t> least;
  for (const auto& each : all) {
    const auto shortest = least.try_emplace(branch(each), depth(each)).first;
    shortest->second = std::min(shortest->second, depth(each));
  }
  std::erase_if(all, [&](const NamedParameter& each) { return depth(each) > least[branch(each)]; });
  return all;
}

void set_parameter(Machine& machine, const std::string& text, const std::string& where) {
  const auto [pattern, number, kind] = parse_assignment(text, where);
  const bool is_change = kind != Assignment::Kind::value;
  const auto all = named_parameters(machine), found = find_named(all, pattern);
  bool is_set = false;
  for (const auto& each : found) {
    const auto before = each.get();
    if (is_change && is_absent(before)) continue;
    is_set = true;
    const auto by = parse_number<double>(number);
    if (is_change && !by)
      throw InputError(where,
                       fmt::format("{} is no {}", number, kind == Assignment::Kind::factor ? "factor" : "summand"),
                       "use a number");
    const auto value = is_change ? changed(*each.parameter, before, kind, *by) : parse_value(*each.parameter, number);
    const bool is_no_size = is_absent(value) && each.parameter->unit == MachineParameter::Unit::bytes && !is_change;
    const auto* const done = kind == Assignment::Kind::factor    ? "multiplied by "
                             : kind == Assignment::Kind::summand ? "raised by "
                                                                 : "";
    if (const auto remedy = is_no_size ? size_problem(number).remedy : range_remedy(*each.parameter, value);
        !remedy.empty())
      throw InputError(where, fmt::format("{} cannot be {}{}", each.name, done, number), remedy);
    each.set(value);
  }
  if (found.empty()) {
    std::vector<std::string> names;
    for (const auto& each : all) names.push_back(each.name);
    throw InputError(where, fmt::format("profile {} has no parameter {}", machine.name, pattern),
                     did_you_mean_parameter(pattern, names) + "'commpass profile parameters' lists all");
  }
  if (!is_set)
    throw InputError(where, fmt::format("{} is absent from profile {}", pattern, machine.name), "use KEY=VALUE");
}

}  // namespace

void set_parameters(Profile& profile, const std::vector<std::string>& assignments, const std::string& option) {
  for (const auto& text : assignments) {
    const auto where = fmt::format("{} {}", option, text);
    set_parameter(profile.machine, text, where);
    parse_profile(to_json(profile), where);  // rules that hold between parameters
  }
}

Limits parse_limits(const std::string& text, Limits limits) {
  if (text.empty()) return limits;
  const auto where = "limits " + text;
  std::vector<std::string> keys;
  for (const auto& row : parameters_of(Place::limits)) keys.emplace_back(row.key);
  std::set<std::string> given;
  for (const auto& assignment : split(text, ',')) {
    const auto equals = std::min(assignment.find('='), assignment.size());
    const auto key = assignment.substr(0, equals), number = assignment.substr(std::min(equals + 1, assignment.size()));
    if (std::ranges::find(keys, key) == keys.end())
      throw InputError(where, fmt::format("there is no limit '{}'", key),
                       fmt::format("use KEY=VALUE,…, where KEY is {}", either_of(keys)));
    if (!given.insert(key).second) throw InputError(where, fmt::format("{} is there twice", key), "give it once");
    const auto& row = parameter_named(Place::limits, key);
    const auto value = parse_value(row, number);
    if (const auto remedy = range_remedy(row, value); !remedy.empty())
      throw InputError(where, fmt::format("{} cannot be '{}'", key, number), remedy);
    row.access.set(&limits, value);
  }
  return limits;
}

}  // namespace commpass
