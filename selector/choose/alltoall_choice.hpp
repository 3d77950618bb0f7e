// What an exchange between all pairs of ranks costs that is run once.
#pragma once

#include <span>
#include <vector>

#include "model/pattern/block_sizes.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// As rank_alltoall, but not all pairs need have a block, and with the time in which ranks tell each other the sizes of
/// what they will forward: the stages of an all-to-all of one number a block, all but the last, at whose end blocks are
/// known (TuNA paper §III-B, two phases); nothing of that where all sizes are equal. `mpi` stands for MPI_Alltoallv, if
/// the machine has its price.
/// @param blocks      statistics of those that are not empty
/// @param strategies  those to rank; none: all that do not need the pattern
/// @param depth       matters only for many ranks, and where no strategies are given
/// @param paths       where the data is (offered_paths), if no strategies are given
/// @throws InputError, NotApplicable
std::vector<Candidate> rank_one_shot(const RandomPattern& blocks, const Layout& layout, const Machine& machine,
                                     CostModel model = CostModel::burst, std::span<const Strategy> strategies = {},
                                     BlockSizes sizes = BlockSizes::told, RankingDepth depth = RankingDepth::all,
                                     std::span<const DataPath> paths = host_paths);

/// One of them; of an automatic strategy the cheapest of its family. @throws as rank_one_shot
Candidate price_one_shot(const Strategy& strategy, const RandomPattern& blocks, const Layout& layout,
                         const Machine& machine, CostModel model = CostModel::burst,
                         BlockSizes sizes = BlockSizes::told);

/// Blocks as they are priced while a call waits: of many ranks few are drawn, and sizes are bounded.
RandomPattern priced_in_call(RandomPattern blocks, int ranks);

}  // namespace commpass
