// What a program runs with, for comparison with the origin of its profile.
#pragma once

#include "model/machine/layout.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {

/// The machine, as the node of the calling rank shows it; independent of how ranks are bound. Local.
Fingerprint fingerprint_here();

/// The MPI library and its settings, the partition, and the ranks a node; without the hosts, whose names travel. Local.
Surroundings surroundings_here(const Layout& layout);

}  // namespace commpass
