// What an exchange between all pairs of ranks costs that is run once, with sizes that nobody knows before.
#pragma once

#include <span>
#include <vector>

#include "selector/select.hpp"

namespace commpass {

/// As rank_alltoall, with the time in which ranks tell each other the sizes of what they will forward: the stages of an
/// all-to-all of one number a block, all but the last, at whose end blocks are known (TuNA paper §III-B, two phases).
/// `mpi` stands for MPI_Alltoallv, if the machine has its price.
/// @param bytes       the mean of a block
/// @param strategies  those to rank; none: all that do not need the pattern
/// @throws InputError, NotApplicable
std::vector<Candidate> rank_one_shot(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model = CostModel::burst, std::span<const Strategy> strategies = {});

/// One of them; of an automatic strategy the cheapest of its family. @throws as rank_one_shot
Candidate price_one_shot(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model = CostModel::burst);

}  // namespace commpass
