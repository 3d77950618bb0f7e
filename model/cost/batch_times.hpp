// The burst model in closed form: what a batch of like messages takes at the rank that has most of them.
#pragma once

#include <array>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// Of each level whose channel prices messages (Layout::channel_level).
using ByLevel = std::array<double, most_levels>;

/// What the busiest rank of a batch sends and gets. Numbers of messages need not be whole.
struct BatchLoad {
  ByLevel sent{}, received{};  ///< messages
  double bytes = 0;            ///< of each
  double node_bytes = 0;       ///< that its node injects into the network
  double last_bytes = 0;       ///< of a larger one that arrives last, of any rank; 0: there is none
  double after_last = 0;       ///< the part of its sender's messages that leave after that one
};

/// From the common start of all ranks; the letters are those of burst.cpp.
struct BatchTimes {
  Seconds launching = 0;           ///< L of the last message, until which the processor is busy
  Seconds leaving = 0;             ///< until the last message has left: L, or what the link takes for all
  Seconds flying = 0;              ///< from then to its arrival
  Seconds first_arrival = 0;       ///< until which nothing needs to be taken in
  Seconds taking = 0;              ///< all that it gets in
  Seconds injecting = 0;           ///< what its node sends, into the network, or the core for it
  Seconds linking = 0;             ///< what the rank's link takes for all that it sends
  Seconds awaited = 0;             ///< until a message is taken in that was sent before its receive is posted
  Seconds awaited_latency = 0;     ///< of that, before its bytes begin to move
  Seconds first_taking = 0;        ///< the part of `awaited` that its receiver is busy
  bool takes_after_sends = false;  ///< does it take messages in when its own have left it, not meanwhile?
  bool awaits_receives = false;    ///< do messages begin when their receive is posted?

  /// When all that comes is taken in.
  Seconds taken_in() const;
  /// When that is so and the sent messages have arrived.
  Seconds moving() const;
  /// Where messages begin when their receive is posted: from the posting of all receives at all ranks, which comes when
  /// all has been sent, until all is taken in.
  Seconds moving_when_posted() const;
};

/// What a node sends, where all nodes send.
double injection_rate_bytes_per_s(const Machine& machine);

/// The machine whose outermost level gives a node no more than its part of the rate out of the instances of outer
/// levels, where all nodes send to all others alike.
Machine with_outer_levels_as_node_share(Machine machine, const Layout& layout);

/// Equal to evaluate() where all ranks send the same and nothing is shared (tests/model/cost/batch_times_test.cpp).
/// @throws InputError if the machine has no parameters for a level with messages
BatchTimes batch_times(const BatchLoad& load, const Machine& machine);

}  // namespace commpass
