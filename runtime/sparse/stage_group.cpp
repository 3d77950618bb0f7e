#include "runtime/sparse/stage_group.hpp"

#include <algorithm>

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

}  // namespace commpass
