#include "model/machine/machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/base/error.hpp"

namespace commpass {

double Channel::least_beta() const {
  return std::ranges::min(protocols, {}, &Protocol::beta_s_per_byte).beta_s_per_byte;
}

std::optional<MisplacedLevel> find_misplaced(std::span<const MachineLevel> levels) {
  const auto node = find_level(levels, node_level_name);
  if (!node) return std::nullopt;
  for (const char* part : {"cache", "numa", "socket"})
    if (const auto level = find_level(levels, part); level && *level > *node)
      return MisplacedLevel{*level, "is part of a node, outside 'node'"};
  if (const auto group = find_level(levels, standard_level::name(standard_level::group)); group && *group < *node)
    return MisplacedLevel{*group, "consists of nodes, within 'node'"};
  const auto& outermost = standard_level::name(standard_level::network);
  if (const auto network = find_level(levels, outermost); network && levels.back().name != outermost)
    return MisplacedLevel{*network, "contains all nodes, within another level"};
  return std::nullopt;
}

const Channel* MemoryChannels::find(Level level) const {
  for (std::size_t i = level; i < by_level.size(); ++i)
    if (has(static_cast<Level>(i))) return &*by_level[i];
  return nullptr;
}

std::vector<MachineLevel> standard_level::levels() {
  std::vector<MachineLevel> result(4);
  result[socket].name = "socket";
  result[node].name = node_level_name;
  result[group].name = "group";
  result[network].name = "network";
  return result;
}

const std::string& standard_level::name(Level level) {
  static const auto all = levels();
  return all[level].name;
}

bool is_level_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::optional<Level> find_level(std::span<const MachineLevel> levels, std::string_view name) {
  const auto found = std::ranges::find(levels, name, &MachineLevel::name);
  return found == levels.end() ? std::nullopt : std::optional(static_cast<Level>(found - levels.begin()));
}

Level Machine::level(std::string_view level_name) const {
  if (const auto found = find_level(levels, level_name)) return *found;
  throw InputError("profile " + name, fmt::format("it has no level '{}'", level_name), "add the level");
}

std::string place_of(const Machine& machine, Level level) {
  if (level == 0) return "on a " + machine.name_of(level);
  int within = level - 1;
  while (within > machine.node_level() && !machine.host.has(static_cast<Level>(within))) --within;
  return fmt::format("between {}s", machine.name_of(static_cast<Level>(within)));
}

namespace {

/// The least β of any message between devices: messages within one are no slower. 0 where nothing is known.
double fastest_beta(const MemoryChannels& channels) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& channel : channels.by_level)
    if (channel)
      for (const auto& protocol : channel->protocols) fastest = std::min(fastest, protocol.beta_s_per_byte);
  return std::isfinite(fastest) ? fastest : 0;
}

}  // namespace

Machine on_device(const Machine& machine) {
  Machine result;
  result.name = machine.name;
  result.levels.clear();
  for (const auto& level : machine.levels) result.levels.push_back({.name = level.name});
  result.host = machine.device;
  const double beta = fastest_beta(machine.device);
  if (machine.device_copy_rate_bytes_per_s) result.copy_rate_bytes_per_s = *machine.device_copy_rate_bytes_per_s;
  else if (beta > 0) result.copy_rate_bytes_per_s = 1 / beta;
  if (machine.device_copy_call_s) result.copy_call_s = *machine.device_copy_call_s;
  else if (!machine.device_to_host.empty())
    result.copy_call_s = std::ranges::min(machine.device_to_host, {}, &DeviceCopy::alpha_s).alpha_s;
  result.operations = machine.operations;
  result.operations.neighbor_alltoall_s = result.operations.alltoallv_s = std::nullopt;
  result.operations.new_send_bytes = std::nullopt;
  result.limits = machine.limits;
  result.verdict = machine.verdict;
  return result;
}

namespace {

/// Small messages as those of a channel, which copies their pieces, others as those of another one.
Channel joined(Channel small, const Channel& large, Bytes small_bytes_max) {
  std::size_t kept = 0;
  while (kept < small.protocols.size() && small.protocols[kept].max_bytes < small_bytes_max) ++kept;
  small.protocols.resize(std::min(kept + 1, small.protocols.size()));
  small.protocols.back().max_bytes = small_bytes_max;
  for (auto& protocol : small.protocols) protocol.copies_pieces = true;
  for (const auto& protocol : large.protocols)
    if (protocol.max_bytes > small_bytes_max) small.protocols.push_back(protocol);
  small.rendezvous_from_bytes = std::max(large.rendezvous_from_bytes.value_or(0), small_bytes_max + 1);
  return small;
}

}  // namespace

Machine with_node_memory(Machine machine, Usage usage) {
  const auto messages = machine.host;
  for (Level level = 0; level <= machine.node_level(); ++level) {
    const auto* const pushed = machine.shared.find(level);
    const auto* const by_mpi = messages.find(level);
    if (pushed && by_mpi)
      machine.host.by_level[level] = usage == Usage::once ? *pushed : joined(*pushed, *by_mpi, shared_bytes_max);
  }
  return machine;
}

Limits merged(Limits limits, const Limits& others) {
  const auto take = [&](auto member) {
    if (others.*member) limits.*member = others.*member;
  };
  take(&Limits::messages_off_node);
  take(&Limits::messages);
  take(&Limits::unexpected_messages);
  take(&Limits::partners);
  take(&Limits::buffer_bytes);
  return limits;
}

Seconds probe_seconds(const Machine& machine) {
  const auto* nearest = machine.host.find(0);
  return machine.operations.probe_s.value_or(nearest ? nearest->protocol(0).receive_seconds(0) : 0);
}

const Channel& host_channel(const Machine& machine, Level level) {
  if (const auto* channel = machine.host.find(level)) return *channel;
  throw InputError("profile " + machine.name, fmt::format("it has no parameters for '{}'", machine.name_of(level)),
                   "calibrate on ranks that are so related, or use another profile");
}

Seconds collective_seconds(const OperationCosts& operations, Seconds measured_s, int ranks) {
  if (!operations.ranks) return measured_s;
  const auto rounds = [](int count) { return std::bit_width(static_cast<unsigned>(count) - 1); };
  return measured_s * rounds(ranks) / rounds(*operations.ranks);
}

LibraryCall library_call(const OperationCosts& operations, Usage usage) {
  if (usage == Usage::once)
    return {"operations.alltoallv_s", operations.alltoallv_s, operations.alltoallv_message_s.value_or(0)};
  return {"operations.neighbor_alltoall_s", operations.neighbor_alltoall_s,
          operations.neighbor_alltoall_message_s.value_or(0)};
}

Machine with_shared_rates_times(Machine machine, double factor) {
  for (auto& level : machine.levels)
    for (double* rate : {&level.up_rate_bytes_per_s, &level.down_rate_bytes_per_s, &level.inside_rate_bytes_per_s,
                         &level.node_share_bytes_per_s})
      *rate *= factor;
  for (auto* const channels : {&machine.host, &machine.device, &machine.shared})
    for (auto& channel : channels->by_level)
      if (channel) channel->aggregate_rate_bytes_per_s *= factor;
  return machine;
}

Seconds copying_seconds(const Machine& machine, double bytes, double pieces) {
  return bytes / machine.copy_rate_bytes_per_s + pieces * machine.copy_block_s.value_or(0);
}

Seconds reduction_seconds(const Machine& machine, double bytes, double pieces) {
  return bytes / machine.reduction_rate_bytes_per_s.value_or(machine.copy_rate_bytes_per_s) +
         copying_seconds(machine, 0, pieces);
}

std::optional<Seconds> datatype_seconds(const Machine& machine, double bytes, double pieces) {
  if (!machine.datatype_rate_bytes_per_s || !machine.datatype_block_s) return std::nullopt;
  return bytes / *machine.datatype_rate_bytes_per_s + pieces * *machine.datatype_block_s;
}

bool is_datatype_cheaper(const Machine& machine, double bytes, double pieces) {
  const auto by_datatype = datatype_seconds(machine, bytes, pieces);
  return by_datatype && *by_datatype < copying_seconds(machine, bytes, pieces);
}

}  // namespace commpass
