#include "selector/report/profile_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "model/base/format.hpp"
#include "model/machine/named_parameters.hpp"
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
  for (const auto& [name, memory] : {std::pair("host", &Machine::host), std::pair("shared", &Machine::shared),
                                     std::pair("device", &Machine::device)})
    for (const auto& level : levels)
      for (const auto bytes : sizes) {
        if (memory == &Machine::shared && bytes > shared_bytes_max) continue;
        const Compared seconds{lone_message(first, memory, level, bytes), lone_message(second, memory, level, bytes)};
        if (seconds.first || seconds.second) result.push_back({seconds, name, level, bytes});
      }
  return result;
}

}  // namespace

Document compare_profiles(const Profile& first, const Profile& second) {
  const auto &first_name = first.machine.name, &second_name = second.machine.name;
  const auto rows = parameters_of(first, second);
  const auto cell = [](const std::optional<double>& number, const auto& print) {
    return number ? Cell(*number, print(*number)) : Cell();
  };
  const auto ratio_cell = [&](const Compared& row) {
    return cell(row.ratio(), [](double ratio) { return fmt::format("{:.3g}", ratio); });
  };
  // In text both tables have the same widths.
  constexpr int number_width_min = 14;
  int name_width = 0;
  for (const auto& row : rows) name_width = std::max(name_width, static_cast<int>(row.key.size()));
  const auto width =
      std::max({number_width_min, static_cast<int>(first_name.size()), static_cast<int>(second_name.size())});
  const auto text_table = [&](const char* heading) {
    return Table{
        "",
        {{"", heading, -name_width, {}, 0}, {"", first_name, width}, {"", second_name, width}, {"", "ratio", 8, "-"}}};
  };
  auto shared = text_table("parameter"), shared_messages = text_table("a lone message, predicted");
  auto parameters = json_table("parameters", "key first second ratio");
  auto messages = json_table("lone_messages", "memory locality bytes first_s second_s ratio");
  Table lines{"", {{"kind"}, {"name"}, {first_name}, {second_name}, {"ratio"}}};
  for (const auto& row : rows) {
    const auto print = [&](double value) { return format_parameter(row.unit, value); };
    const auto one = cell(row.first, print), other = cell(row.second, print), ratio = ratio_cell(row);
    if (row.first && row.second) shared.add({row.key, one, other, ratio});
    parameters.add({row.key, one, other, ratio});
    lines.add({"parameter", row.key, one, other, ratio});
  }
  for (const auto& lone : lone_messages(first.machine, second.machine)) {
    const auto one = seconds_cell(lone.first), other = seconds_cell(lone.second), ratio = ratio_cell(lone);
    if (lone.first && lone.second)
      shared_messages.add(
          {fmt::format("{} {} {}", lone.memory, lone.level, bytes_cell(lone.bytes).text), one, other, ratio});
    messages.add({lone.memory, lone.level, lone.bytes, one, other, ratio});
    lines.add({"message", fmt::format("{}.{}.{}", lone.memory, lone.level, lone.bytes), one, other, ratio});
  }

  Document document;
  document.facts({{"schema_version", 1}, {"context", {{"first", first_name}, {"second", second_name}}}});
  const auto list = [&](const std::string& key, const std::string& name, const std::vector<std::string>& parts) {
    document.fact(key, parts);
    document.paragraph(fmt::format("{}: {}\n", name, parts.empty() ? "nothing" : join(parts, ", ")));
  };
  document.add(std::move(parameters));
  document.add(std::move(shared));
  document.text("\n");
  document.add(std::move(shared_messages));
  document.text(fmt::format("\nratio: {} over {}\n", second_name, first_name));
  list("only_first", "only in " + first_name, only_in(rows, &Compared::first, &Compared::second));
  list("only_second", "only in " + second_name, only_in(rows, &Compared::second, &Compared::first));
  if (const auto keys = beyond_intervals(first, second))
    list("beyond_intervals", "differs by more than its intervals", *keys);
  document.add(std::move(messages));
  document.add(std::move(lines));
  return document;
}

}  // namespace commpass
