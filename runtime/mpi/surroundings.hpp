// What a program runs with, to be compared with what its profile was measured with.
#pragma once

#include "model/machine/layout.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {

/// The MPI library and its settings, the partition, and the ranks a node; without the hosts, whose names travel. Local.
Surroundings surroundings_here(const Layout& layout);

}  // namespace commpass
