// Patterns in which ranks or messages are very unlike each other.
#pragma once

#include "model/pattern/pattern.hpp"

namespace commpass::bench {

/// Every rank sends 32 KiB to rank 1, and 1 KiB to four others.
Pattern hot_receiver(int ranks);

/// Rank 1 sends 32 KiB to every other rank; every rank sends 1 KiB to four others.
Pattern hot_sender(int ranks);

/// Few ranks have many partners: the k-th sends 2 KiB to P/k others, at least to one.
Pattern power_law_of_partners(int ranks);

/// Eight messages from every rank, of 3 B to 200 KiB: every power of ten as often as the next.
Pattern wide_sizes(int ranks);

}  // namespace commpass::bench
