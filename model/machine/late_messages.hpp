// Messages that a network loses when a rank has many in flight, and sends again after a timer. No MPI.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// Exchanges in which every rank has `messages` messages in flight at once.
struct CrowdedExchanges {
  int messages = 0;
  std::vector<Seconds> seconds;  ///< of each exchange, of the slowest rank
};

/// The number of messages in flight with which exchanges are late.
struct LateMessages {
  int messages = 0;      ///< in flight
  int late = 0, of = 0;  ///< exchanges
  Seconds late_s = 0;    ///< by which they are, in the median: the timer
  int most_in_time = 0;  ///< messages in flight with which none was late; 0: none
};

/// An exchange is late that takes 10 ms longer than the median of those like it, and five times as long. Twice or more
/// are no accident, unless as many are late with the fewest messages: then it is the machine that interrupts.
/// @param exchanges  by growing messages
/// @return the first that are late; nothing: none is
std::optional<LateMessages> find_late_messages(std::span<const CrowdedExchanges> exchanges);

}  // namespace commpass
