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

/// Every rank sends 4 KiB to each of the ranks 8 to 15, which may share a node, and 512 B to three others.
Pattern hot_ranks_receive(int ranks);
/// Each of the ranks 8 to 15 sends 4 KiB to every other rank; every rank sends 512 B to three others.
Pattern hot_ranks_send(int ranks);

/// An FFT's transposes along the far dimension of a grid that is as square as it can be: 3000 B to all ranks of a
/// column.
Pattern transposes(int ranks);

/// An adaptive mesh: six neighbours, about 3 KB each, and up to seven ranks far away, about 150 B each.
Pattern adaptive_mesh(int ranks);

/// The lower half of the ranks sends 16 KiB to eight ranks of the upper half.
Pattern half_to_half(int ranks);

}  // namespace commpass::bench
