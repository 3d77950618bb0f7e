// What an exchange may take of a rank.
#pragma once

#include <optional>

#include "model/base/types.hpp"

namespace commpass {

/// On Dane (Omni-Path) 2076 of 2076 all-to-alls with up to 63 messages in flight to other nodes went without a stall; a
/// third of those with 84 to 105 lost messages, which were sent again 160 ms later (docs/profiles.md, "Limits").
inline constexpr int default_messages_off_node = 64;

/// On Quartz (Omni-Path) direct sparse exchanges took 1 to 20 ms with up to 907 messages of a rank, and 95 to 390 ms
/// with 1950 and more, by any discovery; those by nbx took 166 ms and more from 1009 messages on (docs/profiles.md,
/// "Limits").
inline constexpr int default_unexpected_messages = 1000;

/// What an exchange may take of a rank, whatever it costs. Absent: no limit, but for messages to other nodes and
/// unexpected ones.
struct Limits {
  std::optional<int> messages_off_node{};  ///< in flight to other nodes; absent: default_messages_off_node
  std::optional<int> messages{};           ///< in flight, all of them
  std::optional<int>
      unexpected_messages{};      ///< that come before their receives, in a stage; absent: default_unexpected_messages
  std::optional<int> partners{};  ///< ranks to which a rank sends, in all stages
  std::optional<Bytes> buffer_bytes{};  ///< memory for what a rank forwards
  bool operator==(const Limits&) const = default;
};

}  // namespace commpass
