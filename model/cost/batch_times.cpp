#include "model/cost/batch_times.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/cost/models.hpp"

namespace commpass {

Seconds BatchTimes::taken_in() const { return std::max(takes_after_sends ? launching : 0.0, first_arrival) + taking; }

Seconds BatchTimes::moving() const { return std::max({leaving + flying, taken_in(), injecting + flying}); }

Seconds BatchTimes::moving_when_posted() const {
  return std::max(awaited - first_taking + taking, awaited_latency + std::max(linking, injecting));
}

double injection_rate_bytes_per_s(const Machine& machine) {
  return std::min(machine.injection_rate_bytes_per_s, machine.core_rate_bytes_per_s);
}

Machine with_groups_in_core(Machine machine, const Layout& layout) {
  for (int node = 0; layout.groups() > 1 && node < layout.nodes(); ++node) {
    const int others = layout.ranks() - layout.ppn(node);
    const int far = layout.ranks() - layout.ranks_of_group(layout.group(node));
    const double rate = machine.group_rate_bytes_per_s * share_of_group(layout, node) * others / far;
    machine.core_rate_bytes_per_s = std::min(machine.core_rate_bytes_per_s, rate);
  }
  return machine;
}

namespace {

/// From when a message has left its sender to its arrival.
Seconds flying_seconds(double bytes, const Channel& channel) {
  return std::max(0.0,
                  channel.protocol(static_cast<Bytes>(bytes)).alone_seconds(bytes) - channel.leaving_seconds(bytes));
}

/// From when a message's receive is posted to its arrival, if it has been launched before; and of that, before its
/// bytes begin to move.
std::pair<Seconds, Seconds> awaited_seconds(double bytes, const Channel& channel) {
  const auto& protocol = channel.protocol(static_cast<Bytes>(bytes));
  // Its sender has launched it, and copied what a slower protocol copies.
  const double handling = channel.handling_s_per_byte(protocol);
  const Seconds before = std::min(protocol.alpha_next_s, protocol.alpha_s) + handling * bytes,
                awaited = std::max(0.0, protocol.alone_seconds(bytes) - before);
  return {awaited, std::max(0.0, awaited - (protocol.beta_s_per_byte - handling) * bytes)};
}

}  // namespace

BatchTimes batch_times(const BatchLoad& load, const Machine& machine) {
  const auto bytes = static_cast<Bytes>(load.bytes);
  BatchTimes times;
  for (std::size_t l = 0; l < locality_count; ++l) {
    if (load.sent[l] == 0 && load.received[l] == 0) continue;
    const auto& channel = host_channel(machine, static_cast<Locality>(l));
    const auto& protocol = channel.protocol(bytes);
    const Seconds next = protocol.next_seconds(load.bytes), alone = protocol.alone_seconds(load.bytes),
                  taking = protocol.receive_seconds(bytes), link = load.bytes / channel.link_rate_bytes_per_s;
    times.launching += load.sent[l] * next;
    times.linking += load.sent[l] * link;
    times.taking += load.received[l] * taking;
    times.takes_after_sends = times.takes_after_sends || protocol.takes_after_sends();
    // The farther, the later; so the last locality decides.
    if (load.sent[l] > 0) times.flying = flying_seconds(load.bytes, channel);
    if (load.sent[l] > 0 && load.last_bytes > 0)
      times.flying = std::max(times.flying, flying_seconds(load.last_bytes, channel) -
                                                load.after_last * load.sent[l] * channel.leaving_seconds(load.bytes));
    if (load.received[l] > 0) {
      times.first_arrival = std::max(0.0, alone - taking);
      times.awaits_receives = times.awaits_receives || channel.awaits_receive(bytes);
      std::tie(times.awaited, times.awaited_latency) = awaited_seconds(std::max(load.bytes, load.last_bytes), channel);
      times.first_taking = std::min(taking, times.awaited);
    }
  }
  times.leaving = std::max(times.launching, times.linking);
  times.injecting = load.node_bytes / injection_rate_bytes_per_s(machine);
  return times;
}

}  // namespace commpass
