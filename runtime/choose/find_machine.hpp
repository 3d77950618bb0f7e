// The machine that a communicator takes prices from.
#pragma once

#include <mpi.h>

#include <string>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/machine/profile.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

/// The named profile; else that of COMMPASS_PROFILE; else the one among those that can be named that was measured on
/// this machine; else the built-in one, which is said once on stderr. Not collective.
/// @param name  of a profile or its file; empty: none
/// @throws InputError if a profile that is named is none
Profile find_profile_here(const std::string& name, const Layout& layout, const Environment& environment);

/// The machine of the profile that rank 0 finds so, on every rank; differences between the surroundings of its
/// measurement and the running program are told there on stderr, once (use_warning). Collective. @throws as above, the
/// same on every rank
Machine find_machine(MPI_Comm comm, const std::string& name, const Layout& layout, const Environment& environment);

}  // namespace commpass
