// Which strategies are offered on a machine: those whose price its parameters tell.
#pragma once

#include <span>
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

/// A reason why a path cannot be priced for any strategy on a machine, or empty.
std::string lacking(const DataPath& path, const Machine& machine);

/// The paths for data on devices whose prices a machine knows, in the order of offered_paths; they may be none.
/// @param are_taken      does MPI take device memory?
/// @param copies_shared  may several processes copy the data of one?
std::vector<DataPath> device_paths(const Layout& layout, const Machine& machine, bool are_taken = true,
                                   bool copies_shared = true);

/// The paths for data in some place whose prices a machine knows, in the order that breaks ties: for data on devices
/// those of pointers, of one process that copies, and of as many as copies were measured with and a node has ranks.
/// @throws InputError if there are none
std::vector<DataPath> offered_paths(DataPlace place, const Layout& layout, const Machine& machine);

/// Each strategy that names no path on each of these on which it has a price, or on all where it has none; the others
/// as they are.
std::vector<Strategy> on_paths(std::span<const Strategy> strategies, std::span<const DataPath> paths,
                               const Machine& machine, CostModel model);

/// @throws NotApplicable with the reason, if a strategy cannot be priced on a machine
void require_price(const Strategy& strategy, const Machine& machine, CostModel model, Usage usage = Usage::planned);

/// The catalogue's suggestions for a layout that the model tells from the others on this machine. Strategies that only
/// burst can price are offered under burst only, and there if the machine has its price.
/// @param paths  where the data is, as offered_paths gives them. Of several processes that copy only `standard` and the
/// paper's `split` are suggested; the search tries them with other cheap strategies
std::vector<Strategy> offered_strategies(const Layout& layout, const Machine& machine, CostModel model,
                                         Usage usage = Usage::planned, std::span<const DataPath> paths = host_paths);

}  // namespace commpass
