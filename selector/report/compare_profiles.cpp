#include "selector/report/compare_profiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "selector/report/forms.hpp"
#include "selector/report/launch_statistics.hpp"

namespace commpass {

namespace {

/// A number of one or both profiles.
struct Compared {
  std::optional<double> first, second;

  std::optional<double> ratio() const {
    return first && second && *first != 0 ? std::optional(*second / *first) : std::nullopt;
  }
};
using Side = std::optional<double> Compared::*;

struct ComparedParameter : Compared {
  std::string key;  ///< levels.network.host.eager.alpha_s
  MachineParameter::Unit unit{};
};

struct ComparedMessage : Compared {
  const char* memory;
  std::string level;
  Bytes bytes;
};

std::vector<ComparedParameter> parameters_of(const Profile& first, const Profile& second) {
  std::vector<ComparedParameter> rows;
  const auto add = [&](Machine machine, Side side) {
    for (const auto& each : named_parameters(machine)) {
      const auto value = each.get();
      const bool is_in_name = each.name.ends_with("_processes.processes");
      if (is_absent(value) || is_in_name) continue;
      auto found = std::ranges::find(rows, each.name, &ComparedParameter::key);
      if (found == rows.end()) found = rows.insert(rows.end(), {{}, each.name, each.parameter->unit});
      (*found).*side = to_double(value);
    }
  };
  add(first.machine, &Compared::first);
  add(second.machine, &Compared::second);
  return rows;
}

/// The parameters whose intervals do not overlap; nothing if no parameter has an interval in both profiles.
std::optional<std::vector<std::string>> beyond_intervals(const Profile& first, const Profile& second) {
  const auto a = intervals_of(first), b = intervals_of(second);
  std::optional<std::vector<std::string>> keys;
  for (const auto& [key, one] : a) {
    const auto other = b.find(key);
    if (other == b.end()) continue;
    if (!keys) keys.emplace();
    if (one.second < other->second.first || other->second.second < one.first) keys->push_back(key);
  }
  return keys;
}

/// The parameters of one profile alone. The longest prefixes that the other one lacks stand for them: "copy" for all
/// copies.
std::vector<std::string> only_in(const std::vector<ComparedParameter>& rows, Side has, Side lacks) {
  const auto other_has = [&](const std::string& part) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row.*lacks && row.key.starts_with(part + "."); });
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

std::optional<Seconds> lone_message(const Machine& machine, MemoryChannels Machine::*memory, const std::string& level,
                                    Bytes bytes) {
  const auto index = find_level(machine.levels, level);
  if (!index || !(machine.*memory).has(*index)) return std::nullopt;
  return (machine.*memory).by_level[*index]->protocol(bytes).alone_seconds(static_cast<double>(bytes));
}

std::vector<ComparedMessage> lone_messages(const Machine& first, const Machine& second) {
  constexpr Bytes kibi = 1 << 10;
  constexpr Bytes sizes[] = {8, 64, 512, 4 * kibi, 32 * kibi, 256 * kibi, 4 * kibi * kibi};
  std::vector<std::string> levels;
  for (const auto* machine : {&first, &second})
    for (const auto& level : machine->levels)
      if (std::ranges::find(levels, level.name) == levels.end()) levels.push_back(level.name);
  std::vector<ComparedMessage> result;
  for (const auto& [name, memory] : {std::pair("host", &Machine::host), std::pair("device", &Machine::device)})
    for (const auto& level : levels)
      for (const auto bytes : sizes) {
        const Compared seconds{lone_message(first, memory, level, bytes), lone_message(second, memory, level, bytes)};
        if (seconds.first || seconds.second) result.push_back({seconds, name, level, bytes});
      }
  return result;
}

}  // namespace

std::string compare_profiles_table(const Profile& first, const Profile& second) {
  std::string text;
  const auto rows = parameters_of(first, second);
  const auto width = column_width("", rows, &ComparedParameter::key);
  constexpr std::size_t number_width_min = 14;
  const auto column = std::max({number_width_min, first.machine.name.size(), second.machine.name.size()});
  const auto head = [&](const char* heading) {
    append(text, "{:<{}}  {:>{}}  {:>{}}  {:>8}\n", heading, width, first.machine.name, column, second.machine.name,
           column, "ratio");
  };
  const auto line = [&](const std::string& name, const Compared& row, const auto& print) {
    if (!row.first || !row.second) return;
    const auto ratio = row.ratio();
    append(text, "{:<{}}  {:>{}}  {:>{}}  {:>8}\n", name, width, print(*row.first), column, print(*row.second), column,
           ratio ? fmt::format("{:.3g}", *ratio) : "-");
  };

  head("parameter");
  for (const auto& row : rows) line(row.key, row, [&](double value) { return format_parameter(row.unit, value); });
  text += "\n";
  head("a lone message, predicted");
  for (const auto& lone : lone_messages(first.machine, second.machine))
    line(fmt::format("{} {} {}", lone.memory, lone.level, format_bytes(static_cast<double>(lone.bytes))), lone,
         format_seconds);

  const auto list = [&](const std::string& what, const std::vector<std::string>& parts) {
    text += wrap_lines(fmt::format("{}: {}\n", what, parts.empty() ? "nothing" : join(parts, ", ")));
  };
  append(text, "\nratio: {} over {}\n", second.machine.name, first.machine.name);
  list("only in " + first.machine.name, only_in(rows, &Compared::first, &Compared::second));
  list("only in " + second.machine.name, only_in(rows, &Compared::second, &Compared::first));
  if (const auto keys = beyond_intervals(first, second)) list("differs by more than its intervals", *keys);
  return text;
}

std::string compare_profiles_json(const Profile& first, const Profile& second) {
  auto json = json_head({{"first", first.machine.name}, {"second", second.machine.name}});
  const auto rows = parameters_of(first, second);
  const auto add = [](Json& list, Json entry, const Compared& row, const char* first_key, const char* second_key) {
    if (row.first) entry[first_key] = *row.first;
    if (row.second) entry[second_key] = *row.second;
    if (const auto ratio = row.ratio()) entry["ratio"] = *ratio;
    list.push_back(std::move(entry));
  };
  json["parameters"] = Json::array();
  for (const auto& row : rows) add(json["parameters"], {{"key", row.key}}, row, "first", "second");
  json["only_first"] = only_in(rows, &Compared::first, &Compared::second);
  json["only_second"] = only_in(rows, &Compared::second, &Compared::first);
  if (const auto keys = beyond_intervals(first, second)) json["beyond_intervals"] = *keys;
  json["lone_messages"] = Json::array();
  for (const auto& lone : lone_messages(first.machine, second.machine))
    add(json["lone_messages"], {{"memory", lone.memory}, {"locality", lone.level}, {"bytes", lone.bytes}}, lone,
        "first_s", "second_s");
  return json_text(json);
}

std::string compare_profiles_csv(const Profile& first, const Profile& second) {
  auto text = csv_line({"kind", "name", first.machine.name, second.machine.name, "ratio"});
  const auto add = [&](const char* kind, const std::string& name, const Compared& row) {
    text += csv_line({kind, name, csv_number(row.first), csv_number(row.second), csv_number(row.ratio())});
  };
  for (const auto& row : parameters_of(first, second)) add("parameter", row.key, row);
  for (const auto& lone : lone_messages(first.machine, second.machine))
    add("message", fmt::format("{}.{}.{}", lone.memory, lone.level, lone.bytes), lone);
  return text;
}

}  // namespace commpass
