// The machine that a communicator takes prices from.
#pragma once

#include <mpi.h>

#include <string>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "selector/commands/environment.hpp"

namespace commpass {

/// That of a profile which rank 0 reads, on every rank: the named one; else that of COMMPASS_PROFILE; else the one
/// among those that can be named that was measured on this machine; else the built-in one, of which rank 0 says so once
/// on stderr. Collective.
/// @param name  of a profile or its file; empty: none
/// @throws InputError, the same on every rank, if a profile that is named is none
Machine find_machine(MPI_Comm comm, const std::string& name, const Layout& layout, const Environment& environment);

}  // namespace commpass
