#include "selector/report/compare_profiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/report/csv.hpp"
#include "selector/report/json_text.hpp"
#include "selector/report/launch_intervals.hpp"

namespace commpass {

namespace {

/// A number that one or both profiles have.
struct Row {
  std::string key;  ///< its place in the JSON, a protocol by its name: host.network.eager.alpha_s
  std::optional<double> first, second;
};

/// What an element of a list is called: a protocol by its name, device copies by their number of processes.
std::string name_of_element(const Json& element) {
  if (element.contains("name")) return element["name"].get<std::string>();
  return fmt::format("{}_processes", element.at("processes").get<int>());
}

/// The numbers of a profile by their keys.
void flatten(const Json& json, const std::string& path, std::vector<std::pair<std::string, double>>& numbers) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (json.is_number()) numbers.emplace_back(path, json.get<double>());
  if (json.is_object())
    for (const auto& [key, value] : json.items()) {
      const bool tells_parameters = key != "schema_version" && key != "schema_minor" && key != "provenance" &&
                                    key != "verdict" && key != "processes";
      // The word "protocols" says nothing that the protocol's name does not.
      if (tells_parameters) flatten(value, key == "protocols" ? path : below(key), numbers);
    }
  std::map<std::string, int> uses;  // nothing forbids two protocols of one name
  if (json.is_array())
    for (const auto& element : json) {
      const auto name = name_of_element(element);
      const int use = ++uses[name];
      flatten(element, below(use == 1 ? name : fmt::format("{}#{}", name, use)), numbers);
    }
}

std::vector<Row> rows_of(const Profile& first, const Profile& second) {
  std::vector<std::pair<std::string, double>> a, b;
  flatten(Json::parse(to_json(first)), "", a);
  flatten(Json::parse(to_json(second)), "", b);
  std::vector<Row> rows;
  for (const auto& [key, value] : a) rows.push_back({key, value, {}});
  for (const auto& [key, value] : b) {
    const auto found = std::ranges::find(rows, key, &Row::key);
    if (found != rows.end()) found->second = value;
    else rows.push_back({key, {}, value});
  }
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

/// What only one profile has, in the largest parts of which the other has nothing: "device" for all its channels.
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
  Locality locality;
  Bytes bytes;
  std::optional<Seconds> first, second;
};

std::optional<Seconds> lone_message(const MemoryChannels& channels, Locality locality, Bytes bytes) {
  if (!channels.has(locality)) return std::nullopt;
  const auto& protocol = channels.find(locality)->protocol(bytes);
  return protocol.alpha_s + protocol.beta_s_per_byte * static_cast<double>(bytes);
}

/// The times of lone messages, of kinds that at least one profile has.
std::vector<Lone> lone_messages(const Machine& first, const Machine& second) {
  constexpr Bytes kibi = 1 << 10;
  constexpr Bytes sizes[] = {8, 64, 512, 4 * kibi, 32 * kibi, 256 * kibi, 4 * kibi * kibi};
  std::vector<Lone> result;
  const auto add = [&](const char* memory, const MemoryChannels& a, const MemoryChannels& b) {
    for (const auto locality : {Locality::socket, Locality::node, Locality::network})
      for (const auto bytes : sizes)
        if (a.has(locality) || b.has(locality))
          result.push_back(
              {memory, locality, bytes, lone_message(a, locality, bytes), lone_message(b, locality, bytes)});
  };
  add("host", first.host, second.host);
  add("device", first.device, second.device);
  return result;
}

/// A number with the unit that its key ends with.
std::string with_unit(const std::string& key, double value) {
  constexpr double giga = 1e9, nano = 1e-9;
  if (key.ends_with("_rate_bytes_per_s") || key.ends_with(".rate_bytes_per_s"))
    return fmt::format("{:.3g} GB/s", value / giga);
  if (key.ends_with("_s_per_byte")) return fmt::format("{:.3g} ns/B", value / nano);
  if (key.ends_with("_bytes")) return fmt::format("{:.0f} B", value);
  if (key.ends_with(".ranks")) return fmt::format("{:.0f}", value);
  return format_seconds(value);
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
      line(row.key, *row.first, *row.second, [&](double value) { return with_unit(row.key, value); });
  text += "\n";
  head("a lone message, predicted");
  for (const auto& lone : lone_messages(first.machine, second.machine))
    if (lone.first && lone.second)
      line(fmt::format("{} {} {}", lone.memory, name_of(lone.locality), format_bytes(static_cast<double>(lone.bytes))),
           *lone.first, *lone.second, format_seconds);

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
    Json entry{{"memory", lone.memory}, {"locality", name_of(lone.locality)}, {"bytes", lone.bytes}};
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
    text += csv_line({"message", fmt::format("{}.{}.{}", lone.memory, name_of(lone.locality), lone.bytes),
                      csv_number(lone.first), csv_number(lone.second), csv_number(ratio_of(lone.first, lone.second))});
  return text;
}

}  // namespace commpass
