// The time of a simulated rank's own processor.
#pragma once

#include "simulation/description.hpp"

namespace simulation {

/// The cluster that is simulated.
const Cluster& cluster();

/// Lets time of this rank pass, which noise and a slow node lengthen.
void work(double seconds);

/// Nothing; but SMPI's functions are weak, and from a library a file that stands in for some of them is linked only
/// where something else of it is called.
void link_collectives();

}  // namespace simulation
