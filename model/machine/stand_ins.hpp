// Parameters that a machine lacks and that prices may not take for nothing.
#pragma once

#include "model/machine/machine.hpp"

namespace commpass {

/// What ranks next to each other move a message of 64 KiB at, and the part of what a node injects that one message
/// takes: geometric medians of the profiles that come with Commpass (tests/model/machine/stand_ins_test.cpp finds them
/// anew).
inline constexpr double typical_near_rate_bytes_per_s = 1.3e10, typical_injecting_messages = 2;

/// A piece of a copy, which is not in the cache: assumed.
inline constexpr Seconds typical_copy_block_s = 2e-8;

/// What ranks wait for one another, as part of α of a small message between nodes (operations.skew_s): assumed. On
/// Dane, the one machine of which exchanges in rounds on 2 to 64 nodes are known, it is about 1.
inline constexpr double typical_skew_alpha_ratio = 0.25;

/// The machine with cautious numbers for what would be free, each named in `stand_ins`:
/// - local copies, of which nothing is known: a message between the nearest ranks is at least one copy, so copies move
///   64 KiB no slower than it. Where no message within a node is known, the typical rate.
/// - what a node injects: as much as the typical number of lone large messages, unless a calibration looked for it;
/// - what ranks wait for one another between batches: the typical part of α between nodes, unless a calibration looked.
Machine with_stand_ins(Machine machine);

/// bytes per second of a lone message of 64 KiB between the nearest ranks; absent where no level within a node has any.
std::optional<double> near_rate_bytes_per_s(const Machine& machine);

}  // namespace commpass
