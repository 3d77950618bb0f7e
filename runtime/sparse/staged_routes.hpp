// The routes of sparse exchanges that forward, and the communicators of the ranks that exchange messages in a stage.
#pragma once

#include <mpi.h>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/route/route.hpp"
#include "model/route/sparse_strategy.hpp"
#include "runtime/context.hpp"
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

/// A route with what its stages need.
struct StagedRoute {
  std::unique_ptr<Route> route;
  std::vector<StageGroup> groups;  ///< by stage
};

/// Keeps the communicators of the last few routes only: MPI libraries have some thousand.
class StagedRoutes {
 public:
  static constexpr std::size_t most_split = 4;
  /// Strategies with equal names have the same stages.
  static std::string name_of(const SparseStrategy& strategy);

  /// @param whole  the communicator of stages in which all ranks take part; alive as long as this
  StagedRoutes(std::shared_ptr<const Context> context, MPI_Comm whole)
      : context_(std::move(context)), whole_comm_(whole) {}

  /// The route of an exchange; the same on every rank.
  /// @param may_split  are all ranks here, and is no exchange in flight? Then each stage gets communicators of those
  /// who
  ///   take part in it; the call is collective, and may free those of another route. Else a route has them only if they
  ///   are there. @throws Error, the same on every rank
  const StagedRoute& of(const SparseStrategy& strategy, bool may_split);

 private:
  struct Named {
    std::string name;
    StagedRoute staged;
  };
  const StagedRoute& split(const Strategy& strategy, std::string name);

  std::shared_ptr<const Context> context_;
  MPI_Comm whole_comm_;
  std::list<Named> split_;                      ///< the last used first
  std::map<std::string, StagedRoute> whole_{};  ///< without communicators of their own
};

}  // namespace commpass
