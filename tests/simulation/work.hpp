// The time of a simulated rank's own processor.
#pragma once

#include "simulation/description.hpp"

namespace simulation {

/// The cluster that is simulated.
const Cluster& cluster();

/// Lets time of this rank pass, which noise and a slow node lengthen.
void work(double seconds);

}  // namespace simulation
