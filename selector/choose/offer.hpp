// Which strategies are offered on a machine: those whose price its parameters tell.
#pragma once

#include <string>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/route/sparse_strategy.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// A reason why a strategy cannot be priced on a machine, or empty. Under postal and max-rate all can: the papers'
/// models take the MPI library's collective for the direct exchange whose ways it goes.
std::string lacking(const Strategy& strategy, const Machine& machine, CostModel model, Usage usage = Usage::planned);

/// The same for a strategy of a sparse exchange.
std::string lacking(const SparseStrategy& strategy, const Machine& machine);

/// @throws NotApplicable with the reason, if a strategy cannot be priced on a machine
void require_price(const Strategy& strategy, const Machine& machine, CostModel model, Usage usage = Usage::planned);

/// The catalogue's suggestions for a layout that the model tells from the others on this machine. What only burst knows
/// is offered under burst only, and there if the machine has its price.
std::vector<Strategy> offered_strategies(const Layout& layout, const Machine& machine, CostModel model,
                                         Usage usage = Usage::planned);

}  // namespace commpass
