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
  return std::min(machine.levels[machine.node_level()].up_rate_bytes_per_s,
                  machine.levels.back().node_share_bytes_per_s);
}

Machine with_outer_levels_as_node_share(Machine machine, const Layout& given) {
  const auto layout = given.on(machine);
  auto& share = machine.levels.back().node_share_bytes_per_s;
  for (Level level = layout.node_level() + 1; level < layout.outermost(); ++level) {
    if (layout.instances(level) == 0) continue;
    const double rate =
        std::min(machine.levels[level].up_rate_bytes_per_s, machine.levels[level].down_rate_bytes_per_s);
    for (int node = 0; node < layout.nodes(); ++node) {
      const int around = layout.ranks_of_instances(level)[at(layout.instance_of(level)[layout.ranks_of(node).front()])];
      const double part = static_cast<double>(layout.ppn(node)) / around;
      const int others = layout.ranks() - layout.ppn(node), far = layout.ranks() - around;
      share = std::min(share, rate * part * others / far);
    }
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
  for (std::size_t l = 0; l < most_levels; ++l) {
    if (load.sent[l] == 0 && load.received[l] == 0) continue;
    const auto& channel = host_channel(machine, static_cast<Level>(l));
    const auto& protocol = channel.protocol(bytes);
    const Seconds next = protocol.next_seconds(load.bytes), alone = protocol.alone_seconds(load.bytes),
                  taking = protocol.receive_seconds(bytes), link = load.bytes / channel.link_rate_bytes_per_s;
    times.launching += load.sent[l] * next;
    times.linking += load.sent[l] * link;
    times.taking += load.received[l] * taking;
    times.takes_after_sends = times.takes_after_sends || protocol.takes_after_sends();
    // The farther, the later; so the outermost level decides.
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
