// Do the ranks of this node have a core each?
#pragma once

#include <mpi.h>

namespace commpass {

/// Are there more ranks on this node than cores that they may run on? Then a rank that waits should let others run.
/// Collective over the ranks of a node.
/// @param node  the ranks of this node
bool are_crowded(MPI_Comm node);

}  // namespace commpass
