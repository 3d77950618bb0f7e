// The routes of sparse exchanges that forward, with the communicators of their stages.
#pragma once

#include <mpi.h>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/route/sparse_strategy.hpp"
#include "runtime/context.hpp"
#include "runtime/sparse/stage_group.hpp"

namespace commpass {

/// A route with what its stages need.
struct StagedRoute {
  std::unique_ptr<Route> route;
  std::vector<StageGroup> groups;  ///< by stage
};

/// Keeps the communicators of the last few routes only: MPI libraries have some thousand.
class StagedRoutes {
 public:
  static constexpr std::size_t most_split = 4;

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
