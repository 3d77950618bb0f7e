// The ranks that exchange messages in a stage of a route, on a communicator of their own.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "model/route/route.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

/// A communicator of ranks that exchange messages in a stage, directly or through others. A discovery among them needs
/// no other rank: in two-step only the ranks of one node, and before only one rank from each node.
struct StageGroup {
  std::optional<OwnCommunicator> own;  ///< none: all ranks
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Rank> members;  ///< their ranks in the whole communicator, ascending; empty: all
  std::vector<Rank> peers;    ///< those with whom this rank may exchange messages, in ranks of `comm`, ascending

  Rank in_group(Rank rank) const;
  Rank in_whole(Rank member) const { return members.empty() ? member : members[static_cast<std::size_t>(member)]; }
};

/// The group of every stage. Collective.
/// @throws NotApplicable if the route does not know its groups
std::vector<StageGroup> split_stages(MPI_Comm comm, const Route& route);

/// The same stages on the whole communicator, for exchanges that may not wait for others to begin.
std::vector<StageGroup> whole_stages(MPI_Comm comm, const Route& route);

}  // namespace commpass
