// Which strategy the ranks of an exchange run: rank 0 decides, and all follow.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/pattern/grid.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/plan/planning.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/wisdom.hpp"

namespace commpass {

struct SelectionOptions {
  CostModel model = CostModel::burst;
  Calls calls;
  std::int64_t most_edges_gathered = 0;
  unsigned threads = 1;  ///< that this rank may start
  std::optional<Strategy>
      automatic{};  ///< choose from its family alone (selector/choose/family.hpp); the same on every rank
  std::optional<Grid>
      grid{};  ///< that of the user's communicator: if ranks have the same offsets there, it is not sought
  HowToChoose how{};
  Bytes added_value_bytes = 0;    ///< see Pattern; the same on every rank
  std::vector<DataPath> paths{};  ///< on which data may be exchanged, on rank 0; empty: those of paths_of_host_data
};

/// The paths with prices for a planned exchange of data in host memory: through memory of a node, too, unless ranks are
/// simulated.
std::vector<DataPath> paths_of_host_data(const Layout& layout, const Machine& machine);

struct PlannedDecision {
  Decision decision;
  std::optional<WisdomKey> key{};  ///< of its trials, where their result is kept; the key itself on rank 0
};

/// The decision for an exchange that is planned: that of an earlier measurement; else by prices, and by trials where
/// these are asked for, whose result is kept. The same on every rank. Collective.
/// @param are_values  see ExchangeOptions
/// @param options     of a strategy that is not named, without paths
/// @param time        times the contenders of a decision, and decides by that; collective
/// @return of `adaptive` with the contenders that the program's exchanges try, if there is anything to try
/// @throws Error, the same on every rank
PlannedDecision decide_planned(const Context& context, std::span<const SendEdge> sends, bool are_values,
                               const DeviceUse& devices, SelectionOptions options,
                               const std::function<void(Decision&)>& time);

/// The cheapest strategy, the same on every rank. Collective.
///
/// Up to `most_edges_gathered` edges in all: rank_strategies() of the whole pattern, whose work the ranks share. More:
/// by estimate(), from the number of messages and their bytes alone, which the explanation says. If the machine has no
/// parameters for a level that the layout has, nothing has a price: the strategy is then a named stand-in
/// (runtime/choose/decision.hpp), which a warning says once.
/// @param options  but for the threads those of rank 0 hold
/// @throws Error, the same on every rank
Decision select_strategy(MPI_Comm comm, const Layout& layout, const Machine& machine, std::span<const SendEdge> sends,
                         SelectionOptions options);

}  // namespace commpass
