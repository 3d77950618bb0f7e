// Which sparse exchanges are chosen together.
#pragma once

#include "runtime/choose/one_shot_chooser.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {

/// By what all ranks have sent: messages of a rank, bytes of a message, how many leave the node and for how many nodes,
/// and how much more than the others the busiest sender and receiver have.
ExchangeClass class_of(const SparseTraffic& all, int ranks);

/// As class_of(expected_traffic(…)), by integer arithmetic.
ExchangeClass class_of_expected(double messages, double bytes, const Layout& layout);

}  // namespace commpass
