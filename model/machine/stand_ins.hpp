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

/// What ranks wait for one another, as part of α of a small message between nodes (operations.skew_s): assumed. It is
/// about 0.1 on Dane, with 200 to 6400 ranks, and at most 0.1 on Marenostrum with 32.
inline constexpr double typical_skew_alpha_ratio = 0.06;

/// What a further message of a burst between nodes keeps its sender busy for, as part of α (alpha_next_s): about the
/// geometric median of the protocols that have it in the profiles of Commpass (tests/model/machine/stand_ins_test.cpp).
inline constexpr double typical_next_alpha_ratio = 0.4;

/// Copies by all ranks of a node, each of more bytes than its caches hold at once, where no calibration measured
/// copies: assumed. The all-to-alls of docs/validation.md tell 1.5 to 2 GB/s on Dane, whose 100 ranks share the memory
/// of a node, and 4 to 6 on Marenostrum with one rank on each.
inline constexpr double typical_memory_copy_rate_bytes_per_s = 2.5e9;

/// What a rank may send in a stage of an exchange so that its caches, of 4 MiB, hold what it packs, sends, gets and
/// unpacks: assumed.
inline constexpr Bytes cached_bytes_max = Bytes{1} << 20;

/// The machine with assumed numbers for what would be free, or taken for a lone message, each named in `stand_ins`:
/// - local copies, of which nothing is known: a message between the nearest ranks is at least one copy, so copies move
///   64 KiB no slower than it. Where no message within a node is known, the typical rate.
/// - what a node injects: as much as the typical number of lone large messages, unless a calibration looked for it;
/// - further messages of bursts between nodes: the typical part of α, where no protocol of a level has its own, unless
/// a
///   calibration looked for them;
/// - what ranks wait for one another between batches: the typical part of α between nodes, unless a calibration looked.
Machine with_stand_ins(Machine machine);

/// bytes per second of a lone message of 64 KiB between the nearest ranks; absent where no level within a node has any.
std::optional<double> near_rate_bytes_per_s(const Machine& machine);

}  // namespace commpass
