#include "selector/report/profile_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {

namespace {

constexpr double giga = 1e9;

std::string rate(double bytes_per_s) {
  return std::isfinite(bytes_per_s) ? fmt::format("{:.3g} GB/s", bytes_per_s / giga)
                                    : std::string("not measured, taken as unlimited");
}

/// "1.2 us + 10 GB/s", or without bytes that take no time.
std::string line(Seconds alpha_s, double beta_s_per_byte) {
  return format_seconds(alpha_s) + (beta_s_per_byte > 0 ? " + " + rate(1 / beta_s_per_byte) : ", whatever the size");
}

bool has_next(const Protocol& p) { return p.alpha_next_s != p.alpha_s || p.beta_next_s_per_byte.has_value(); }
bool has_receive(const Protocol& p) { return p.alpha_receive_s.has_value(); }

constexpr auto* next_is_absent = "next message of a burst: not measured, taken as a lone message";
constexpr auto* receive_is_absent = "taking in a message: not measured, taken as a message of a burst, while sending";

void add_channel(std::string& text, const std::string& place, const Channel& channel) {
  // What no protocol of a channel has is said once.
  const bool any_next = std::ranges::any_of(channel.protocols, has_next),
             any_receive = std::ranges::any_of(channel.protocols, has_receive);
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    const auto& p = channel.protocols[i];
    const auto until = i + 1 < channel.protocols.size()
                           ? "up to " + format_bytes(static_cast<double>(p.max_bytes))
                           : std::string(channel.protocols.size() > 1 ? "beyond" : "any size");
    append(text, "  {} {} ({}): {}\n", place, p.name, until, line(p.alpha_s, p.beta_s_per_byte));
    if (has_next(p)) append(text, "    next message of a burst: {}\n", line(p.alpha_next_s, p.beta_next()));
    else if (any_next) append(text, "    {}\n", next_is_absent);
    if (has_receive(p))
      append(text, "    taking in a message: {}\n",
             line(*p.alpha_receive_s, p.beta_receive_s_per_byte.value_or(p.beta_s_per_byte)));
    else if (any_receive) append(text, "    {}\n", receive_is_absent);
  }
  if (!any_next) append(text, "    {}\n", next_is_absent);
  if (!any_receive) append(text, "    {}\n", receive_is_absent);
  if (channel.rendezvous_from_bytes)
    append(text, "    sends of {} and more wait for their receive\n",
           format_bytes(static_cast<double>(*channel.rendezvous_from_bytes)));
  if (channel.gamma_s > 0.0)
    append(text, "    queue: {} times the square of messages, halved\n", format_seconds(*channel.gamma_s));
  if (std::isfinite(channel.aggregate_rate_bytes_per_s))
    append(text, "    together at most {}\n", rate(channel.aggregate_rate_bytes_per_s));
  if (std::isfinite(channel.link_rate_bytes_per_s))
    append(text, "    those of one rank together at most {}\n", rate(channel.link_rate_bytes_per_s));
}

void add_channels(std::string& text, const char* memory, const MemoryChannels& channels) {
  for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
    const auto place = fmt::format("{} {}", memory, name_of(locality));
    if (channels.has(locality)) add_channel(text, place, *channels.find(locality));
    else text += "  " + place + ": not measured\n";
  }
}

void add_operations(std::string& text, const Machine& machine) {
  for (const auto& [key, seconds] : measured_operations(machine.operations))
    append(text, "  {}: {}\n", key.substr(0, key.rfind('_')), format_seconds(seconds));
  if (const auto bytes = machine.operations.new_send_bytes)
    append(text, "  sends of up to {}: a new request each time\n", format_bytes(static_cast<double>(*bytes)));
  if (machine.operations.ranks) append(text, "    collective ones with {} ranks\n", *machine.operations.ranks);
}

void add_rates(std::string& text, const Machine& machine) {
  append(text, "  a node into the network: {}\n  the network into a node: {}\n",
         rate(machine.injection_rate_bytes_per_s), rate(machine.ejection_rate_bytes_per_s));
  if (std::isfinite(machine.core_rate_bytes_per_s))
    append(text, "  each node when all send into the network: {}\n", rate(machine.core_rate_bytes_per_s));
  if (std::isfinite(machine.group_rate_bytes_per_s))
    append(text, "  a group of nodes into the others, or from them: {}\n", rate(machine.group_rate_bytes_per_s));
  if (std::isfinite(machine.bus_rate_bytes_per_s))
    append(text, "  all messages within a node: {}\n", rate(machine.bus_rate_bytes_per_s));
  append(text, "  memory copy: {}\n  each piece of a copy: {}\n", rate(machine.copy_rate_bytes_per_s),
         machine.copy_block_s ? format_seconds(*machine.copy_block_s) : "not measured, taken as no time");
  if (machine.value_run_s) append(text, "  loops over values: {} a run\n", format_seconds(*machine.value_run_s));
  if (machine.datatype_rate_bytes_per_s && machine.datatype_block_s)
    append(text, "  derived datatypes: {}, {} a piece\n", rate(*machine.datatype_rate_bytes_per_s),
           format_seconds(*machine.datatype_block_s));
  const auto copies = [&](const char* direction, const std::vector<DeviceCopy>& list) {
    for (const auto& c : list)
      append(text, "  {}, {} process{}: {}\n", direction, c.processes, c.processes == 1 ? "" : "es",
             line(c.alpha_s, c.beta_s_per_byte));
  };
  if (machine.devices_per_node) append(text, "  devices of a node: {}\n", *machine.devices_per_node);
  if (machine.device_copy_rate_bytes_per_s)
    append(text, "  copy within a device: {}\n", rate(*machine.device_copy_rate_bytes_per_s));
  if (machine.device_copy_call_s)
    append(text, "  starting copies within a device: {}\n", format_seconds(*machine.device_copy_call_s));
  copies("device to host", machine.device_to_host);
  copies("host to device", machine.host_to_device);
}

double number_in(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}
std::string text_in(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

/// "1.2 us to 1.3 us" of [1.2e-6, 1.3e-6].
template <class Print>
std::string interval_in(const Json& json, const char* key, Print print) {
  constexpr std::size_t ends = 2;
  if (!json.is_object() || !json.contains(key) || !json[key].is_array() || json[key].size() != ends ||
      !json[key][0].is_number() || !json[key][1].is_number())
    return "?";
  return fmt::format("{} to {}", print(json[key][0].template get<double>()),
                     print(json[key][1].template get<double>()));
}

std::string held_out_text(const Json& each) {
  return fmt::format("'{}' by {}: {} predicted, {} measured, error {}", text_in(each, "exchange"),
                     text_in(each, "strategy"), format_seconds(number_in(each, "predicted_s")),
                     format_seconds(number_in(each, "measured_s")), format_error(number_in(each, "error")));
}

std::string fit_text(const Json& each) {
  const auto per_byte = [](double seconds) { return fmt::format("{:.3g} ns/B", seconds * giga); };
  return fmt::format("{} {}: alpha {}, beta {}", text_in(each, "locality"), text_in(each, "protocol"),
                     interval_in(each, "alpha_interval_s", format_seconds),
                     interval_in(each, "beta_interval_s_per_byte", per_byte));
}

std::string slow_node_text(const Json& each) {
  return fmt::format("{:.0f} takes {} times as long", number_in(each, "node"),
                     format_fixed(number_in(each, "times_as_long"), 1));
}

/// A number by the unit that its key ends with.
std::string number_text(const std::string& key, const Json& value) {
  const double number = value.get<double>();
  if (key.ends_with("bytes_per_s")) return rate(number);
  if (key.ends_with("_s")) return format_seconds(number);
  if (key.ends_with("bytes")) return format_bytes(number);
  return !value.is_number_integer() ? fmt::format("{:.4g}", number) : value.dump();
}

/// What a provenance holds, each thing on a line, without what only programs read.
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
  add_channels(text, "host", machine.host);
  if (!machine.device.empty()) add_channels(text, "device", machine.device);
  add_rates(text, machine);
  add_operations(text, machine);
  text += "  provenance:\n";
  add_provenance(text, Json::parse(profile.provenance_json), "", now);
  return wrap_lines(text);
}

}  // namespace commpass
