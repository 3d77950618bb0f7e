// Which exchanges that run once are chosen together, by the traffic of all ranks.
#pragma once

#include <array>

#include "model/cost/cost.hpp"
#include "model/machine/layout.hpp"
#include "model/pattern/sparse_traffic.hpp"

namespace commpass {

/// Exchanges that are alike to about a factor of two in each of these numbers: logarithms, by integer arithmetic from
/// sums that all ranks have. So the class is the same on every rank, on whatever processor it runs and however it was
/// compiled; prices, which are not, are rank 0's alone.
using ExchangeClass = std::array<int, 6>;
/// By how many factors of two classes differ, in what they differ most.
int distance(const ExchangeClass& a, const ExchangeClass& b);

/// Of blocks between all pairs of ranks: r on a node and between nodes (about one pair in 2^r has a block that is not
/// empty), the binary digits of their mean size, how far sizes are from it (0: all are about equal; s: their variance
/// is about 0.4·4^(s − 1) squares of the mean), and 1 where every rank sends to about as many others.
/// @param blocks  those that are not empty, with as many bytes as an integer holds
ExchangeClass class_of(const MessageTotals& blocks, const Layout& layout);
/// Of blocks of about one size that all pairs have.
ExchangeClass class_of_full(double block_bytes);
/// Of blocks that all ranks know to be equal: alike to a fourth of their size or less, and the largest of a class is a
/// round size, up to which protocols go.
ExchangeClass class_of_equal(Bytes block_bytes);
inline constexpr Bytes class_bytes_max = Bytes{1} << 40;  ///< the model does not distinguish larger blocks

/// Of a sparse exchange: messages of a rank, bytes of a message, the share that leaves the node and the nodes that it
/// is for, and how much more than the others the busiest sender and receiver have.
ExchangeClass class_of(const SparseTraffic& all, int ranks);
/// As class_of(expected_traffic(…)), by integer arithmetic.
ExchangeClass class_of_expected(double messages, double bytes, const Layout& layout);

}  // namespace commpass
