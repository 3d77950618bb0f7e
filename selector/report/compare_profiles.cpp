#include "selector/report/compare_profiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "selector/report/csv.hpp"
#include "selector/report/json_text.hpp"
#include "selector/report/launch_intervals.hpp"

namespace commpass {

namespace {

/// A parameter that one or both profiles have.
struct Row {
  std::string key;  ///< levels.network.host.eager.alpha_s
  MachineParameter::Unit unit{};
  std::optional<double> first, second;
};

std::vector<Row> rows_of(const Profile& first, const Profile& second) {
  std::vector<Row> rows;
  const auto add = [&](Machine machine, std::optional<double> Row::*side) {
    for (const auto& each : named_parameters(machine)) {
      const auto value = each.get();
      const bool is_in_name = each.name.ends_with("_processes.processes");
      if (is_absent(value) || is_in_name) continue;
      auto found = std::ranges::find(rows, each.name, &Row::key);
      if (found == rows.end()) found = rows.insert(rows.end(), {each.name, each.parameter->unit, {}, {}});
      (*found).*side = to_double(value);
    }
  };
  add(first.machine, &Row::first);
  add(second.machine, &Row::second);
  return rows;
}

/// What differs by more than noise within either calibration.
struct Differences {
  bool is_known = false;  ///< both have intervals of something
  std::vector<std::string> keys;
};

Differences beyond_intervals(const Profile& first, const Profile& second) {
  const auto a = intervals_of(first), b = intervals_of(second);
  Differences found;
  for (const auto& [key, one] : a) {
    const auto other = b.find(key);
    if (other == b.end()) continue;
    found.is_known = true;
    if (one.second < other->second.first || other->second.second < one.first) found.keys.push_back(key);
  }
  return found;
}

/// What only one profile has, in the largest parts of which the other has nothing: "copy" for all copies.
std::vector<std::string> only_in(const std::vector<Row>& rows, std::optional<double> Row::*has,
                                 std::optional<double> Row::*lacks) {
  const auto other_has = [&](const std::string& part) {
    return std::ranges::any_of(rows, [&](const Row& row) { return row.*lacks && row.key.starts_with(part + "."); });
  };
  std::vector<std::string> parts;
  for (const auto& row : rows) {
    if (!(row.*has) || row.*lacks) continue;
    auto end = row.key.find('.');
    while (end != std::string::npos && other_has(row.key.substr(0, end))) end = row.key.find('.', end + 1);
    auto part = row.key.substr(0, end);
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
  }
  return parts;
}

struct Lone {
  const char* memory;
  std::string level;
  Bytes bytes;
  std::optional<Seconds> first, second;
};

std::optional<Seconds> lone_message(const Machine& machine, MemoryChannels Machine::*memory, const std::string& level,
                                    Bytes bytes) {
  const auto found = std::ranges::find(machine.levels, level, &MachineLevel::name);
  const auto index = static_cast<Level>(found - machine.levels.begin());
  if (found == machine.levels.end() || !(machine.*memory).has(index)) return std::nullopt;
  return (machine.*memory).by_level[index]->protocol(bytes).alone_seconds(static_cast<double>(bytes));
}

/// The times of lone messages, of kinds that at least one profile has.
std::vector<Lone> lone_messages(const Machine& first, const Machine& second) {
  constexpr Bytes kibi = 1 << 10;
  constexpr Bytes sizes[] = {8, 64, 512, 4 * kibi, 32 * kibi, 256 * kibi, 4 * kibi * kibi};
  std::vector<std::string> levels;
  for (const auto* machine : {&first, &second})
    for (const auto& level : machine->levels)
      if (std::ranges::find(levels, level.name) == levels.end()) levels.push_back(level.name);
  std::vector<Lone> result;
  for (const auto& [name, memory] : {std::pair("host", &Machine::host), std::pair("device", &Machine::device)})
    for (const auto& level : levels)
      for (const auto bytes : sizes) {
        const auto a = lone_message(first, memory, level, bytes), b = lone_message(second, memory, level, bytes);
        if (a || b) result.push_back({name, level, bytes, a, b});
      }
  return result;
}

std::optional<double> ratio_of(const std::optional<double>& first, const std::optional<double>& second) {
  return first && second && *first != 0 ? std::optional(*second / *first) : std::nullopt;
}

}  // namespace

std::string compare_profiles_table(const Profile& first, const Profile& second) {
  std::string text;
  const auto rows = rows_of(first, second);
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.key.size());
  constexpr std::size_t widest_number = 14;
  const auto column = std::max({widest_number, first.machine.name.size(), second.machine.name.size()});
  const auto head = [&](const char* heading) {
    append(text, "{:<{}}  {:>{}}  {:>{}}  {:>8}\n", heading, width, first.machine.name, column, second.machine.name,
           column, "ratio");
  };
  const auto line = [&](const std::string& name, double a, double b, const auto& print) {
    const auto ratio = ratio_of(a, b);
    append(text, "{:<{}}  {:>{}}  {:>{}}  {:>8}\n", name, width, print(a), column, print(b), column,
           ratio ? fmt::format("{:.3g}", *ratio) : "-");
  };

  head("parameter");
  for (const auto& row : rows)
    if (row.first && row.second)
      line(row.key, *row.first, *row.second, [&](double value) { return format_parameter(row.unit, value); });
  text += "\n";
  head("a lone message, predicted");
  for (const auto& lone : lone_messages(first.machine, second.machine))
    if (lone.first && lone.second)
      line(fmt::format("{} {} {}", lone.memory, lone.level, format_bytes(static_cast<double>(lone.bytes))), *lone.first,
           *lone.second, format_seconds);

  const auto tell = [&](const std::string& what, const std::vector<std::string>& parts) {
    text += wrap_lines(fmt::format("{}: {}\n", what, parts.empty() ? "nothing" : join(parts, ", ")));
  };
  append(text, "\nratio: {} over {}\n", second.machine.name, first.machine.name);
  tell("only in " + first.machine.name, only_in(rows, &Row::first, &Row::second));
  tell("only in " + second.machine.name, only_in(rows, &Row::second, &Row::first));
  if (const auto [is_known, keys] = beyond_intervals(first, second); is_known)
    tell("differs by more than its intervals", keys);
  return text;
}

std::string compare_profiles_json(const Profile& first, const Profile& second) {
  Json json;
  json["schema_version"] = 1;
  json["context"] = {{"first", first.machine.name}, {"second", second.machine.name}};
  json["parameters"] = Json::array();
  const auto rows = rows_of(first, second);
  const auto put = [](Json& entry, const char* key, const std::optional<double>& value) {
    if (value) entry[key] = *value;
  };
  for (const auto& row : rows) {
    Json entry{{"key", row.key}};
    put(entry, "first", row.first);
    put(entry, "second", row.second);
    put(entry, "ratio", ratio_of(row.first, row.second));
    json["parameters"].push_back(std::move(entry));
  }
  json["only_first"] = only_in(rows, &Row::first, &Row::second);
  json["only_second"] = only_in(rows, &Row::second, &Row::first);
  if (const auto [is_known, keys] = beyond_intervals(first, second); is_known) json["beyond_intervals"] = keys;
  json["lone_messages"] = Json::array();
  for (const auto& lone : lone_messages(first.machine, second.machine)) {
    Json entry{{"memory", lone.memory}, {"locality", lone.level}, {"bytes", lone.bytes}};
    put(entry, "first_s", lone.first);
    put(entry, "second_s", lone.second);
    put(entry, "ratio", ratio_of(lone.first, lone.second));
    json["lone_messages"].push_back(std::move(entry));
  }
  return json_text(json);
}

std::string compare_profiles_csv(const Profile& first, const Profile& second) {
  auto text = csv_line({"kind", "name", first.machine.name, second.machine.name, "ratio"});
  for (const auto& row : rows_of(first, second))
    text += csv_line({"parameter", row.key, csv_number(row.first), csv_number(row.second),
                      csv_number(ratio_of(row.first, row.second))});
  for (const auto& lone : lone_messages(first.machine, second.machine))
    text += csv_line({"message", fmt::format("{}.{}.{}", lone.memory, lone.level, lone.bytes), csv_number(lone.first),
                      csv_number(lone.second), csv_number(ratio_of(lone.first, lone.second))});
  return text;
}

}  // namespace commpass
