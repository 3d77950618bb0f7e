#include "model/cost/batch_times.hpp"

#include <algorithm>

namespace commpass {

Seconds BatchTimes::taken_in() const { return std::max(takes_after_sends ? launching : 0.0, first_arrival) + taking; }

Seconds BatchTimes::moving() const { return std::max({leaving + flying, taken_in(), injecting + flying}); }

BatchTimes batch_times(const BatchLoad& load, const Machine& machine) {
  const auto bytes = static_cast<Bytes>(load.bytes);
  BatchTimes times;
  Seconds linking = 0;
  for (std::size_t l = 0; l < locality_count; ++l) {
    if (load.sent[l] == 0 && load.received[l] == 0) continue;
    const auto& channel = host_channel(machine, static_cast<Locality>(l));
    const auto& protocol = channel.protocol(bytes);
    const Seconds next = protocol.next_seconds(load.bytes), alone = protocol.alone_seconds(load.bytes),
                  taking = protocol.receive_seconds(bytes), link = load.bytes / channel.link_rate_bytes_per_s;
    times.launching += load.sent[l] * next;
    linking += load.sent[l] * link;
    times.taking += load.received[l] * taking;
    times.takes_after_sends = times.takes_after_sends || protocol.takes_after_sends();
    // The farther, the later; so the last locality decides.
    if (load.sent[l] > 0) times.flying = std::max(0.0, alone - std::max(next, link));
    if (load.received[l] > 0) {
      times.first_arrival = std::max(0.0, alone - taking);
      times.awaits_receives = times.awaits_receives || channel.awaits_receive(bytes);
    }
  }
  times.leaving = std::max(times.launching, linking);
  times.injecting = load.node_bytes / std::min(machine.injection_rate_bytes_per_s, machine.core_rate_bytes_per_s);
  return times;
}

}  // namespace commpass
