// What an exchange takes of the rank that needs most, and windows that keep it within a machine's limits.
#pragma once

#include "model/cost/cost.hpp"

namespace commpass {

/// Of one rank, the one that needs most. Messages that the MPI library's collective sends are not in flight here: how
/// many it has in flight, it decides.
struct Demand {
  std::int64_t messages_off_node = 0;  ///< in flight at once to other nodes
  std::int64_t messages = 0;           ///< in flight at once
  std::int64_t partners = 0;           ///< ranks to which it sends, in all stages
  bool operator==(const Demand&) const = default;
};

/// Of a schedule with the batches that it has.
Demand demand_of(const Schedule& schedule, const Layout& layout);

/// The messages in flight to other nodes that a machine allows.
inline int messages_off_node(const Limits& limits) {
  return limits.messages_off_node.value_or(default_messages_off_node);
}

/// The largest window up to the wanted one that keeps the limits of messages in flight: the wanted one, a power of two,
/// or a limit. One round where none does, and the wanted one if the strategy takes no other.
/// @param schedule  of the strategy, with any batches
Window window_within(const Limits& limits, const Schedule& schedule, const Layout& layout, const Strategy& wanted);

/// The same for a random pattern, whose busiest rank has as many messages as is likely, and what that takes.
struct Fitted {
  Window window;
  Demand demand;
};
/// @throws NotApplicable if the route has no closed form
Fitted fit(const Limits& limits, const RandomPattern& pattern, const Route& route, const Layout& layout,
           const Strategy& wanted);

/// The key of a limit that is exceeded; null: all are kept.
/// @param buffer_bytes  for what a rank forwards; nothing: not known
const char* exceeded_limit(const Limits& limits, const Demand& demand, std::optional<Bytes> buffer_bytes);

}  // namespace commpass
