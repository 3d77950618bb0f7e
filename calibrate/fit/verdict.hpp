// How far to trust a profile, by exchanges that were not used for fitting. No MPI.
#pragma once

#include <vector>

#include "calibrate/fit/provenance.hpp"
#include "model/machine/verdict.hpp"

namespace commpass {

/// The median of the factors by which predictions are off, to either side alike, less 1. @param all  one at least
double middle_miss(const std::vector<HeldOut>& all);

/// Good: held-out exchanges are predicted to 15 %, none of them off by half, and measured as sharply, no node is slow,
/// no other program keeps processors busy, the machine does not change its speed, and messages between all nodes are as
/// well predicted as those between two. Not to be trusted: exchanges are off by more than 30 %, or their times spread
/// by more than half, or none was run. The uncertainty is what their times spread, and, unless the verdict is
/// good, by what the errors of different strategies for the same exchange differ: what all strategies have in common
/// blurs no choice. That is no more than what most exchanges are off by.
Verdict judge(const Provenance& provenance);

}  // namespace commpass
