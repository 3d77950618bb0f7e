#include "bench/node_aware_formulas.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"

namespace commpass::node_aware {

namespace {

/// The protocol by which a message goes.
const Protocol& protocol_of(double bytes, Level level, const Machine& machine, Path path) {
  const auto* channel = (path == Path::staged ? machine.host : machine.device).find(level);
  if (!channel)
    throw InputError("profile " + machine.name,
                     fmt::format("it has no parameters of {} {} messages", path == Path::staged ? "host" : "device",
                                 standard_level::name(level)),
                     "use a profile that has them");
  return channel->protocol(static_cast<Bytes>(std::ceil(bytes)));
}

/// Eq. 2.1.
Seconds postal(double bytes, Level level, const Machine& machine, Path path) {
  const auto& protocol = protocol_of(bytes, level, machine, path);
  return protocol.alpha_s + protocol.beta_s_per_byte * bytes;
}

Seconds copy(double bytes, int processes, const char* direction, const std::vector<DeviceCopy>& copies,
             const Machine& machine) {
  const auto found = std::ranges::find(copies, processes, &DeviceCopy::processes);
  if (found == copies.end())
    throw InputError("profile " + machine.name,
                     fmt::format("it has no {} copies with processes = {}", direction, processes),
                     "use a profile that has them");
  return found->alpha_s + found->beta_s_per_byte * bytes;
}

}  // namespace

Seconds on_node(double bytes, const Node& node, const Machine& machine, Path path) {
  return (node.devices_per_socket - 1) * postal(bytes, standard_level::socket, machine, path) +
         node.devices_per_socket * postal(bytes, standard_level::node, machine, path);
}

Seconds on_node_split(double bytes, int processes_per_device, const Node& node, const Machine& machine) {
  const double shares = static_cast<double>(node.processes_per_socket) / processes_per_device;
  return (shares - 1) * postal(bytes, standard_level::socket, machine, Path::staged) +
         shares * postal(bytes, standard_level::node, machine, Path::staged);
}

Seconds off_node(double messages, double bytes, double node_bytes, const Machine& machine, Path path) {
  const auto& protocol = protocol_of(bytes / messages, standard_level::network, machine, path);
  const double injection =
      path == Path::staged ? node_bytes / machine.levels[standard_level::node].up_rate_bytes_per_s : 0;
  return protocol.alpha_s * messages + std::max(injection, protocol.beta_s_per_byte * bytes);
}

Seconds copies(double sent, double received, int processes, const Machine& machine) {
  return copy(sent, processes, "host-to-device", machine.host_to_device, machine) +
         copy(received, processes, "device-to-host", machine.device_to_host, machine);
}

Seconds standard(const Load& load, const Machine& machine, Path path) {
  return off_node(load.messages, load.process_bytes, load.node_bytes, machine, path);
}

namespace {

Seconds copies_if_staged(const Load& load, const Machine& machine, Path path) {
  return path == Path::staged ? copies(load.process_bytes, load.node_to_node_bytes, 1, machine) : 0;
}

}  // namespace

Seconds three_step(const Load& load, const Node& node, const Machine& machine, Path path) {
  return off_node(load.messages, load.node_to_node_bytes, load.node_bytes, machine, path) +
         2 * on_node(load.node_to_node_bytes, node, machine, path) + copies_if_staged(load, machine, path);
}

Seconds two_step(const Load& load, const Node& node, const Machine& machine, Path path) {
  return off_node(load.messages, load.process_bytes, load.node_bytes, machine, path) +
         on_node(load.process_bytes, node, machine, path) + copies_if_staged(load, machine, path);
}

Seconds split(const Load& load, int processes_per_device, SplitReading reading, const Node& node,
              const Machine& machine) {
  const double part = load.node_bytes / node.processes();
  const double on_node_bytes = reading == SplitReading::whole ? load.node_bytes : part;
  return off_node(load.messages, part, load.node_bytes, machine, Path::staged) +
         2 * on_node_split(on_node_bytes, processes_per_device, node, machine) +
         copies(load.process_bytes, load.node_to_node_bytes, processes_per_device, machine);
}

}  // namespace commpass::node_aware
