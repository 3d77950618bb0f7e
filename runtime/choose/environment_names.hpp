// Strategies that the environment names, for the ranks of a communicator: a name that does not fit them ends no
// program.
#pragma once

#include <mpi.h>

#include <string>

#include "model/machine/layout.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

/// The strategy that runs where the program names none; empty: the choice. The same on every rank.
struct EnvironmentNames {
  std::string strategy, sparse, alltoallv;
};

/// Those of rank 0, each the nearest that applies to the layout (selector/choose/nearest.hpp). Where that is another
/// one, or none does, rank 0 says so on stderr, if its environment asks for that (COMMPASS_VERBOSE). Collective.
EnvironmentNames fitting_names(MPI_Comm comm, const Layout& layout, const Environment& environment);

/// Tells that line. @param where  whom the name does not fit; @param instead  the strategy that runs there; empty: the
/// choice
void tell_misfit(const std::string& variable, const std::string& name, const std::string& where,
                 const std::string& instead);

}  // namespace commpass
