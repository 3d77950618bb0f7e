// commpass profile: lists, shows, validates and compares machine profiles.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "model/error.hpp"
#include "model/machine/plausibility.hpp"
#include "model/machine/profile.hpp"
#include "model/text.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/environment.hpp"
#include "selector/report/compare_profiles.hpp"

namespace commpass {

namespace {

constexpr double giga = 1e9;

std::string path_of(const std::string& name) {
  return find_profile(name, profile_directories(read_environment().profile_path));
}

void list() {
  std::map<std::string, std::string> found;  // by name; the first directory wins
  for (const auto& directory : profile_directories(read_environment().profile_path)) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
      if (entry.path().extension() == ".json" && entry.path().stem() != "schema")
        found.try_emplace(entry.path().stem().string(), entry.path().string());
  }
  for (const auto& [name, path] : found) fmt::print("{:<20} {}\n", name, path);
}

void show_channels(const char* memory, const MemoryChannels& channels) {
  for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
    if (!channels.has(locality)) {
      fmt::print("  {} {}: not measured\n", memory, name_of(locality));
      continue;
    }
    const auto& channel = *channels.find(locality);
    for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
      const auto& p = channel.protocols[i];
      const auto until =
          i + 1 < channel.protocols.size() ? "up to " + format_bytes(static_cast<double>(p.max_bytes)) : "beyond";
      fmt::print("  {} {} {} ({}): {} + {:.3g} GB/s, next of a burst {}\n", memory, name_of(locality), p.name, until,
                 format_seconds(p.alpha_s), 1 / p.beta_s_per_byte / giga, format_seconds(p.alpha_next_s));
    }
    if (channel.rendezvous_from_bytes)
      fmt::print("    sends of {} bytes and more wait for their receive\n", *channel.rendezvous_from_bytes);
    if (channel.gamma_s > 0.0) fmt::print("    queue: {:.3g} s per message squared, halved\n", *channel.gamma_s);
    if (std::isfinite(channel.aggregate_rate_bytes_per_s))
      fmt::print("    together at most {:.3g} GB/s\n", channel.aggregate_rate_bytes_per_s / giga);
    if (std::isfinite(channel.link_rate_bytes_per_s))
      fmt::print("    those of one rank together at most {:.3g} GB/s\n", channel.link_rate_bytes_per_s / giga);
  }
}

void show(const std::string& name) {
  const auto path = path_of(name);
  const auto profile = read_profile(path);
  const auto& machine = profile.machine;
  fmt::print("{} ({})\n", machine.name, path);
  show_channels("host", machine.host);
  if (!machine.device.empty()) show_channels("device", machine.device);
  const auto rate = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.3g} GB/s", value / giga)
                                : std::string("not measured, taken as unlimited");
  };
  fmt::print("  a node into the network: {}\n  the network into a node: {}\n", rate(machine.injection_rate_bytes_per_s),
             rate(machine.ejection_rate_bytes_per_s));
  if (std::isfinite(machine.core_rate_bytes_per_s))
    fmt::print("  each node when all send into the network: {}\n", rate(machine.core_rate_bytes_per_s));
  if (std::isfinite(machine.bus_rate_bytes_per_s))
    fmt::print("  all messages within a node: {}\n", rate(machine.bus_rate_bytes_per_s));
  fmt::print("  memory copy: {}, {} a piece\n", rate(machine.copy_rate_bytes_per_s),
             machine.copy_block_s ? format_seconds(*machine.copy_block_s) : "not measured");
  if (machine.datatype_rate_bytes_per_s && machine.datatype_block_s)
    fmt::print("  derived datatypes: {}, {} a piece\n", rate(*machine.datatype_rate_bytes_per_s),
               format_seconds(*machine.datatype_block_s));
  const auto copies = [](const char* direction, const std::vector<DeviceCopy>& list) {
    for (const auto& c : list)
      fmt::print("  {}, {} processes: {} + {:.3g} GB/s\n", direction, c.processes, format_seconds(c.alpha_s),
                 1 / c.beta_s_per_byte / giga);
  };
  copies("device to host", machine.device_to_host);
  copies("host to device", machine.host_to_device);
  for (const auto& [key, seconds] : measured_operations(machine.operations))
    fmt::print("  {}: {}\n", key.substr(0, key.rfind('_')), format_seconds(seconds));
  if (machine.operations.ranks) fmt::print("    collective ones with {} ranks\n", *machine.operations.ranks);
  fmt::print("  provenance: {}\n", profile.provenance_json);
}

void validate(const std::string& name) {
  const auto path = path_of(name);
  const auto profile = read_profile(path);
  fmt::print("{} is a valid profile.\n", path);
  for (const auto& sentence : implausible(profile.machine)) fmt::print("Warning: {}.\n", sentence);
}

void compare(const std::string& first, const std::string& second, bool json) {
  const auto print = json ? compare_profiles_json : compare_profiles_table;
  fmt::print("{}", print(read_profile(path_of(first)), read_profile(path_of(second))));
}

}  // namespace

void add_profile(CLI::App& app, std::function<void()>& command) {
  auto* sub = app.add_subcommand("profile", "list, show, validate or compare machine profiles");
  sub->require_subcommand(1);
  sub->add_subcommand("list", "the profiles that can be named")->callback([&command] { command = list; });
  auto name = std::make_shared<std::string>();
  const auto add = [&](const char* verb, const char* summary, void (*action)(const std::string&)) {
    auto* verb_app = sub->add_subcommand(verb, summary);
    verb_app->add_option("profile", *name, "NAME or file")->required();
    verb_app->callback([name, action, &command] { command = [name, action] { action(*name); }; });
  };
  add("show", "the parameters of a profile", show);
  add("validate", "check a profile against the rules", validate);

  struct Comparison {
    std::string first, second;
    bool json = false;
  };
  auto comparison = std::make_shared<Comparison>();
  auto* compare_app = sub->add_subcommand("compare", "how the parameters of two profiles differ");
  compare_app->add_option("first", comparison->first, "NAME or file")->required();
  compare_app->add_option("second", comparison->second, "NAME or file; ratios are second over first")->required();
  compare_app->add_flag("--json", comparison->json, "JSON on stdout");
  compare_app->callback([comparison, &command] {
    command = [comparison] { compare(comparison->first, comparison->second, comparison->json); };
  });
}

}  // namespace commpass
