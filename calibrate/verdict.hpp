// How far to trust a profile, by exchanges that no fit has seen. No MPI.
#pragma once

#include "calibrate/provenance.hpp"
#include "model/machine/verdict.hpp"

namespace commpass {

/// Good: held-out exchanges are predicted to 15 %, none of them off by half, and measured as sharply. Not to be
/// trusted: they are off by more than 30 %, or their times spread by more than half, or none was run. What is not told
/// apart is what their times spread, and, unless the verdict is good, what they are off: errors of good prices are
/// mostly common to all candidates.
Verdict judge(const Provenance& provenance);

}  // namespace commpass
