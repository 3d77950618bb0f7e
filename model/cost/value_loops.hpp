// What loops over small values take, as in indexed exchanges.
#pragma once

#include <optional>

#include "model/machine/machine.hpp"

namespace commpass {

/// What such a loop takes for a run of values, beyond copying their bytes; nothing where nothing is known of copies.
std::optional<Seconds> value_run_seconds(const Machine& machine);

/// A loop over runs of values, bytes in all.
Seconds value_loop_seconds(const Machine& machine, double runs, double bytes);

/// A loop that adds such runs to other values.
Seconds reduction_loop_seconds(const Machine& machine, double runs, double bytes);

/// The machine on which the pieces of messages are values, which such loops copy, and no derived datatypes.
Machine with_value_loops(Machine machine);

/// The costs that decide whether values for several ranks are worth edges of their own with the same bytes.
struct SharingPrice {
  Seconds edge_s = 0;  ///< of one more edge: its bytes are a piece of their own, where they are packed and unpacked
  Seconds byte_s = 0;  ///< that need not cross the network
  Seconds run_s = 0, copied_byte_s = 0;  ///< of a loop

  /// Of a value that is gathered once less.
  Seconds value_s(double bytes) const { return run_s + bytes * copied_byte_s; }
};
/// @param ranks  of a node, all of which send as much to other nodes
SharingPrice price_of_sharing(const Machine& machine, int ranks);

}  // namespace commpass
