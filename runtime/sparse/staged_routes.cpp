#include "runtime/sparse/staged_routes.hpp"

#include <algorithm>

#include "model/route/catalogue.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

Rank StageGroup::in_group(Rank rank) const {
  return members.empty() ? rank : static_cast<Rank>(std::ranges::lower_bound(members, rank) - members.begin());
}

std::vector<StageGroup> split_stages(MPI_Comm comm, const Route& route) {
  const Rank rank = rank_in(comm);
  std::vector<StageGroup> result;
  all_or_none(comm, [&] {
    for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
      auto& group = result.emplace_back();
      group.members = route.group(rank, stage);
      for (const Rank peer : route.peers(rank, stage)) group.peers.push_back(group.in_group(peer));
    }
  });
  for (auto& group : result) {
    group.own = OwnCommunicator::split(comm, group.members.front());
    group.comm = group.own->get();
  }
  return result;
}

std::vector<StageGroup> whole_stages(MPI_Comm comm, const Route& route) {
  std::vector<StageGroup> result;
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
    auto& group = result.emplace_back();
    group.comm = comm;
    group.peers = route.peers(rank_in(comm), stage);
  }
  return result;
}

std::string StagedRoutes::name_of(const SparseStrategy& strategy) {
  auto route = strategy.route;
  route.path = {};
  return to_string(route);
}

const StagedRoute& StagedRoutes::of(const SparseStrategy& strategy, bool may_split) {
  auto name = insist([&] { return name_of(strategy); });
  const auto found = std::ranges::find(split_, name, &Named::name);
  if (found != split_.end()) {
    split_.splice(split_.begin(), split_, found);
    return found->staged;
  }
  if (may_split && !strategy.is_direct()) return split(strategy.route, std::move(name));
  return insist([&]() -> auto& {
    if (const auto known = whole_.find(name); known != whole_.end()) return known->second;
    StagedRoute made;
    if (!strategy.is_direct()) {
      made.route = make_route(strategy.route, context_->layout);
      made.groups = whole_stages(whole_comm_, *made.route);
    } else if (context_->layout.ranks() > 1) {
      made.groups.emplace_back().comm = whole_comm_;
    }
    return whole_.emplace(name, std::move(made)).first->second;
  });
}

/// Collective.
const StagedRoute& StagedRoutes::split(const Strategy& strategy, std::string name) {
  const MPI_Comm comm = context_->comm.get();
  assemble(comm);
  // All ranks have used the same routes in the same order, and so free the same.
  if (split_.size() == most_split) split_.pop_back();
  std::list<Named> made;
  all_or_none(comm, [&] {
    made.emplace_back(Named{std::move(name), {}});
    made.back().staged.route = make_route(strategy, context_->layout);
  });
  made.back().staged.groups = split_stages(comm, *made.back().staged.route);
  split_.splice(split_.begin(), made);
  return split_.front().staged;
}

}  // namespace commpass
