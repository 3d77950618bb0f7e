#include "selector/report/profile_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {

namespace {

using Place = MachineParameter::Place;

constexpr double giga = 1e9;

std::string rate(double bytes_per_s) { return fmt::format("{:.3g} GB/s", bytes_per_s / giga); }

/// "1.2 us + 10 GB/s"; "1.2 us, whatever the size" if β is 0.
std::string line(Seconds alpha_s, double beta_s_per_byte) {
  return format_seconds(alpha_s) + (beta_s_per_byte > 0 ? " + " + rate(1 / beta_s_per_byte) : ", whatever the size");
}

/// A line for each parameter of a place, unless it is absent.
void add_parameters(std::string& text, const std::string& before, Place place, const void* owner) {
  for (const auto& row : parameters_of(place))
    if (const auto value = row.access.get(owner); !is_absent(value))
      append(text, "{}{}: {}\n", before, row.meaning, format_parameter(row.unit, value));
}

void add_channel(std::string& text, const std::string& place, const Channel& channel) {
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    const auto& p = channel.protocols[i];
    const auto until = i + 1 < channel.protocols.size()
                           ? "up to " + format_bytes(static_cast<double>(p.max_bytes))
                           : std::string(channel.protocols.size() > 1 ? "beyond" : "any size");
    append(text, "  {} {} ({}): {}\n", place, p.name, until, line(p.alpha_s, p.beta_s_per_byte));
    if (p.alpha_next_s != p.alpha_s || p.beta_next_s_per_byte)
      append(text, "    next message of a burst: {}\n", line(p.alpha_next_s, p.beta_next()));
    if (p.alpha_receive_s)
      append(text, "    taking in a message: {}\n",
             line(*p.alpha_receive_s, p.beta_receive_s_per_byte.value_or(p.beta_s_per_byte)));
  }
  add_parameters(text, "    ", Place::channel, &channel);
}

void add_channels(std::string& text, const char* memory, const Machine& machine, const MemoryChannels& channels,
                  Level last) {
  for (Level i = 0; i <= last; ++i) {
    const auto place = fmt::format("{} {}", memory, machine.name_of(i));
    const bool is_optional = i > machine.node_level() && i < machine.outermost();
    if (channels.has(i)) add_channel(text, place, *channels.by_level[i]);
    else if (!is_optional) text += "  " + place + ": not measured\n";
  }
}

void add_copies(std::string& text, const char* direction, const std::vector<DeviceCopy>& copies) {
  for (const auto& c : copies)
    append(text, "  {}, {} process{}: {}\n", direction, c.processes, c.processes == 1 ? "" : "es",
           line(c.alpha_s, c.beta_s_per_byte));
}

void add_absent(std::string& text, const Machine& machine) {
  const auto absent = absent_parameters(machine);
  if (!absent.empty()) text += "  not measured, and what prices use instead:\n";
  for (const auto& [names, stand_in] : absent) append(text, "    {}: {}\n", names, stand_in);
}

/// "1.2 us to 1.3 us" of [1.2e-6, 1.3e-6].
template <class Print>
std::string interval_in(const Json& json, const char* key, Print print) {
  const auto interval = json.interval(key);
  return interval ? fmt::format("{} to {}", print(interval->first), print(interval->second)) : "?";
}

std::string held_out_text(const Json& each) {
  return fmt::format("'{}' by {}: {} predicted, {} measured, error {}", each.text("exchange"), each.text("strategy"),
                     format_seconds(each.number_or_0("predicted_s")), format_seconds(each.number_or_0("measured_s")),
                     format_error(each.number_or_0("error")));
}

std::string fit_text(const Json& each) {
  const auto per_byte = [](double seconds) { return fmt::format("{:.3g} ns/B", seconds * giga); };
  return fmt::format("{} {}: alpha {}, beta {}", each.text("level"), each.text("protocol"),
                     interval_in(each, "alpha_interval_s", format_seconds),
                     interval_in(each, "beta_interval_s_per_byte", per_byte));
}

std::string slow_node_text(const Json& each) {
  return fmt::format("{:.0f} takes {} times as long", each.number_or_0("node"),
                     format_fixed(each.number_or_0("times_as_long"), 1));
}

/// A number by the unit that its key ends with.
std::string number_text(const std::string& key, const Json& value) {
  const double number = value.get<double>();
  if (key.ends_with("bytes_per_s")) return rate(number);
  if (key.ends_with("_s")) return format_seconds(number);
  if (key.ends_with("bytes")) return format_bytes(number);
  return !value.is_number_integer() ? fmt::format("{:.4g}", number) : value.dump();
}

/// A line for each entry of a provenance, without those that only programs read.
void add_provenance(std::string& text, const Json& json, const std::string& place, std::time_t now) {
  const auto add_list = [&](const char* heading, const Json& list, std::string (*print)(const Json&)) {
    for (const auto& each : list) append(text, "    {}{}: {}\n", place, heading, print(each));
  };
  for (const auto& [key, value] : json.items()) {
    const auto name = place + key;
    if (key == "host_hash" || key == "messages" || key == "sharing") continue;
    if (key == "held_out" && value.is_array()) add_list("held out", value, held_out_text);
    else if (key == "fits" && value.is_array()) add_list("95 % interval", value, fit_text);
    else if (key == "slow_nodes" && value.is_array()) add_list("slow node", value, slow_node_text);
    else if (value.is_array() && std::ranges::all_of(value, [](const Json& each) { return each.is_string(); }))
      add_list(key == "not_measured" ? "not measured" : key.c_str(), value,
               [](const Json& each) { return each.get<std::string>(); });
    else if (value.is_object()) add_provenance(text, value, name + ".", now);
    else if (value.is_string()) {
      const auto words = value.get<std::string>();
      const auto age = key == "date" ? age_of(words, now) : std::nullopt;
      append(text, "    {}: {}{}\n", name, words, age ? fmt::format(" ({:.0f} days ago)", *age) : std::string());
    } else if (key == "elapsed_s" && value.is_number())
      append(text, "    {}: {}\n", "took", format_seconds(value.get<double>()));
    else append(text, "    {}: {}\n", name, value.is_number() ? number_text(key, value) : value.dump());
  }
}

}  // namespace

std::string missing_parts(const Machine& machine) {
  std::vector<std::string> parts;
  const auto lacks = [&](bool is_missing, const char* part) {
    if (is_missing) parts.emplace_back(part);
  };
  const auto any_protocol = [&](auto knows) {
    return std::ranges::any_of(machine.host.by_level, [&](const auto& channel) {
      return channel && std::ranges::any_of(channel->protocols, knows);
    });
  };
  const auto levels = std::span(machine.levels).first(machine.node_level() + 1);
  const auto channels = std::span(machine.host.by_level).first(machine.node_level() + 1);
  lacks(std::ranges::none_of(channels, [](const auto& channel) { return channel && !channel->protocols.empty(); }),
        "messages within a node");
  lacks(std::ranges::none_of(levels, [](const auto& level) { return std::isfinite(level.up_rate_bytes_per_s); }),
        "injection");
  lacks(std::ranges::none_of(levels, [](const auto& level) { return std::isfinite(level.inside_rate_bytes_per_s); }) &&
            std::ranges::none_of(
                channels,
                [](const auto& channel) { return channel && std::isfinite(channel->aggregate_rate_bytes_per_s); }),
        "what messages within a node share");
  lacks(!any_protocol([](const Protocol& p) { return p.alpha_next_s != p.alpha_s; }), "bursts");
  lacks(!any_protocol([](const Protocol& p) { return p.alpha_receive_s.has_value(); }), "receivers");
  lacks(!machine.copy_block_s && !std::isfinite(machine.copy_rate_bytes_per_s), "local copies");
  lacks(machine.device.empty(), "device messages");
  lacks(machine.device_to_host.empty() || machine.host_to_device.empty(), "device copies");
  lacks(machine.operations == OperationCosts{}, "operations");
  return join(parts, ", ");
}

std::vector<AbsentParameters> absent_parameters(const Machine& machine) {
  Machine copy = machine;
  const auto all = named_parameters(copy);
  const bool has_devices =
      !machine.device.empty() || !machine.device_to_host.empty() || !machine.host_to_device.empty();
  std::vector<AbsentParameters> result;
  for (const auto& row : machine_parameters()) {
    const bool is_last_one = row.place == Place::protocol && row.is_integer();  // without max_bytes
    const bool is_of_no_device = row.place == Place::devices && !has_devices;
    if (!row.stand_in || is_last_one || is_of_no_device) continue;
    std::vector<std::string> absent;
    std::size_t places = 0;
    for (const auto& each : all) {
      if (each.parameter != &row) continue;
      ++places;
      if (is_absent(each.get())) absent.push_back(each.name);
    }
    const bool is_everywhere = absent.size() == places;
    if (absent.empty() || (row.place == Place::level && !is_everywhere)) continue;
    std::string stand_in = row.stand_in;
    if (row.not_offered) append(stand_in, "; not offered: {}", row.not_offered);
    std::erase(stand_in, '`');
    result.push_back({is_everywhere ? pattern_of(row) : join(absent, ", "), stand_in});
  }
  return result;
}

Table parameter_table() {
  Table table{"",
              {{"", "parameter"},
               {"", "unit"},
               {"", "what it is"},
               {"", "absence means"},
               {"", "stands in, in prices"},
               {"", "is then not offered"},
               {"", "measured by"}}};
  const auto cell = [](const char* words) { return words ? words : ""; };
  for (const auto& row : machine_parameters())
    table.add({"`" + pattern_of(row) + "`", symbol_of(row.unit), row.meaning,
               row.is_required() ? "the profile is refused" : row.absence, cell(row.stand_in), cell(row.not_offered),
               row.measured_by ? fmt::format("`{}`", row.measured_by) : ""});
  return table;
}

std::string describe_verdict(const Machine& machine) {
  if (!machine.verdict) return "none: no calibration judged it, and the fastest prediction is chosen";
  const auto& [trust, uncertainty, why, remedy] = *machine.verdict;
  auto text = fmt::format("{}; predictions within {} of each other are ties\n  why: {}", name_of(trust),
                          format_share(uncertainty), why);
  if (!remedy.empty()) text += "\n  to do: " + remedy;
  return text;
}

std::string describe_profile(const Profile& profile, const std::string& path, std::time_t now) {
  const auto& machine = profile.machine;
  auto text =
      fmt::format("{} ({})\n  verdict: {}\n", machine.name, path, join(split(describe_verdict(machine), '\n'), "\n  "));
  add_channels(text, "host", machine, machine.host, machine.outermost());
  if (!machine.shared.empty()) add_channels(text, "shared", machine, machine.shared, machine.node_level());
  if (!machine.device.empty()) add_channels(text, "device", machine, machine.device, machine.outermost());
  for (const auto& level : machine.levels) add_parameters(text, "  " + level.name + ", ", Place::level, &level);
  add_copies(text, "device to host", machine.device_to_host);
  add_copies(text, "host to device", machine.host_to_device);
  for (const auto place : {Place::devices, Place::local}) add_parameters(text, "  ", place, &machine);
  add_parameters(text, "  ", Place::operations, &machine.operations);
  add_parameters(text, "  limit of ", Place::limits, &machine.limits);
  add_absent(text, machine);
  text += "  provenance:\n";
  add_provenance(text, Json::parse(profile.provenance_json), "", now);
  return wrap_lines(text);
}

}  // namespace commpass
