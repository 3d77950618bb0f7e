// The dimensions of virtual process topologies.
#pragma once

#include <vector>

namespace commpass {

/// The most dimensions that P ranks can be organised in: ⌈lg P⌉, at least 1.
int stfw_most_dimensions(int ranks);

/// The dimension sizes of T_n for P ranks, lowest first. For powers of two as the paper forms them (SC'19 STFW paper
/// §5): the first (lg P mod n) dimensions have 2^(⌊lg P / n⌋ + 1) ranks, the others half of that. For other P the
/// sizes are as near to the n-th root as they go; the address is then not full.
/// @param n  1 … stfw_most_dimensions(ranks)
std::vector<int> stfw_dimensions(int ranks, int n);

/// Σ (k_d − 1), the paper's bound on the messages that a rank sends (§4).
int stfw_message_bound(const std::vector<int>& dimensions);

}  // namespace commpass
