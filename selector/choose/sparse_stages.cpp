#include "selector/choose/sparse_stages.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

std::size_t at_index(Rank rank) { return static_cast<std::size_t>(rank); }

/// Some of the places 0 … count − 1, ascending: all, or, of many, some all over them that follow no stride.
std::vector<std::size_t> some_places(std::size_t count) {
  constexpr std::size_t looked_at_all = 1024, looked_at = 48;
  std::vector<std::size_t> places(count <= looked_at_all ? count : looked_at);
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() == count) return places;
  constexpr std::uint64_t golden = 2654435769;  // 2³² ÷ the golden ratio: multiples of it are spread evenly
  for (auto& place : places) place = ((place * golden & 0xffffffffU) * count) >> 32U;
  std::ranges::sort(places);
  return places;
}

/// Orders by how many are far.
ByLevel far_first(ByLevel counts) {
  std::ranges::reverse(counts);
  return counts;
}

ByLevel how_far(std::span<const ReductionRound> rounds) {
  ByLevel counts{};
  for (const auto& round : rounds) ++counts[round.level];
  return far_first(counts);
}

}  // namespace

/// The critical path through stages: the last rank to finish, the rank that it waited for, and so on.
struct SparseStages::Way {
  std::vector<Seconds> done;                      // by rank, so far
  std::vector<std::vector<std::size_t>> awaited;  // by stage and rank

  explicit Way(const Layout& layout) : done(at_index(layout.ranks()), 0) {}

  /// Who of these is last to begin the next stage.
  std::size_t last_of(Rank rank, std::span<const Rank> others) const {
    auto last = at_index(rank);
    for (const Rank other : others)
      if (done[at_index(other)] > done[last]) last = at_index(other);
    return last;
  }

  /// @param last     for whom each rank waits
  /// @param seconds  that it takes from then on
  void add_stage(std::vector<std::size_t> last, std::vector<Seconds> seconds) {
    for (std::size_t rank = 0; rank < done.size(); ++rank) seconds[rank] += done[last[rank]];
    done = std::move(seconds);
    awaited.push_back(std::move(last));
  }

  /// Whose turn decides in each stage.
  std::vector<std::size_t> longest() const {
    std::vector<std::size_t> ranks(awaited.size());
    auto rank = static_cast<std::size_t>(std::ranges::max_element(done) - done.begin());
    for (auto s = ranks.size(); s-- > 0; rank = awaited[s][rank]) ranks[s] = rank;
    return ranks;
  }
};

SparseStages::SparseStages(const Layout& layout, const Machine& machine) : layout_(layout.on(machine)) {
  constexpr Bytes small = 8;
  for (std::size_t l = 0; l < most_levels; ++l)
    if (const auto* channel = machine.host.find(static_cast<Level>(l))) {
      alone_s_[l] = channel->protocol(small).alone_seconds(small);
      next_s_[l] = channel->protocol(small).next_seconds(small);
    }
}

std::vector<DiscoveryGroup> SparseStages::of(const SparseStrategy& strategy) const {
  if (layout_.ranks() == 1) return {};
  if (strategy.is_direct()) return {all_ranks()};
  const auto route = make_route(strategy.route, layout_);
  std::vector<DiscoveryGroup> stages;
  for (int s = 0; s < std::ssize(route->stages()); ++s) stages.push_back(most_expensive(*route, s));
  if (std::ssize(some_places(at_index(layout_.ranks()))) < layout_.ranks()) return stages;
  if (strategy.discovery == Discovery::dense) await_peers(*route, stages);
  else await_groups(*route, stages);
  return stages;
}

DiscoveryGroup SparseStages::all_ranks() const {
  std::vector<Rank> all(at_index(layout_.ranks()));
  std::iota(all.begin(), all.end(), 0);
  return {static_cast<double>(layout_.ranks()), static_cast<double>(layout_.max_ppn()),
          reduction_rounds(all, layout_, alone_s_), count_peers(0, all)};
}

/// The group whose reduction goes farthest, and the rank with the farthest peers, of whatever group.
DiscoveryGroup SparseStages::most_expensive(const Route& route, int stage) const {
  DiscoveryGroup group;
  bool has_reduction = false;
  double far_peers = 0, all_peers = 0;
  std::vector<bool> is_known(at_index(layout_.ranks()), false);
  std::vector<double> far_of_node(at_index(layout_.nodes()), 0);
  const auto places = some_places(is_known.size());
  for (const auto place : places) {
    const auto rank = static_cast<Rank>(place);
    const auto peers = count_peers(rank, route.peers(rank, stage));
    const double own_peers = std::accumulate(peers.begin(), peers.end(), 0.0), own_far = peers[layout_.outermost()];
    far_peers += own_far;
    all_peers += own_peers;
    far_of_node[at_index(layout_.node(rank))] += own_far / (own_peers + 1);  // a rank keeps blocks for itself
    if (far_first(peers) > far_first(group.peers)) group.peers = peers;
    if (is_known[place]) continue;
    const auto members = route.group(rank, stage);
    for (const Rank member : members) is_known[at_index(member)] = true;
    auto rounds = reduction_rounds(members, layout_, alone_s_);
    if (has_reduction && how_far(rounds) <= how_far(group.rounds)) continue;
    has_reduction = true;
    group.ranks = static_cast<double>(members.size());
    group.rounds = std::move(rounds);
  }
  group.ranks_on_node = layout_.max_ppn();
  const double looked_at = static_cast<double>(places.size());
  group.node_far_share = looked_at == layout_.ranks() ? std::ranges::max(far_of_node)
                                                      : layout_.max_ppn() * far_peers / (all_peers + looked_at);
  return group;
}

/// Sets the peers, where ranks wait for theirs alone.
void SparseStages::await_peers(const Route& route, std::vector<DiscoveryGroup>& stages) const {
  using Turn = std::pair<ByLevel, ByLevel>;  // a rank's peers, and those of the peer that tells most sizes
  std::vector<std::vector<Turn>> turns;
  Way way(layout_);
  for (int s = 0; s < std::ssize(stages); ++s) {
    auto& turn = turns.emplace_back(way.done.size());
    std::vector<std::size_t> last;
    std::vector<Seconds> seconds;
    for (Rank rank = 0; rank < layout_.ranks(); ++rank)
      turn[at_index(rank)].first = count_peers(rank, route.peers(rank, s));
    for (Rank rank = 0; rank < layout_.ranks(); ++rank) {
      const auto peers = route.peers(rank, s);
      auto& [own_peers, tellers_peers] = turn[at_index(rank)];
      for (const Rank peer : peers)
        if (telling_seconds(turn[at_index(peer)].first) > telling_seconds(tellers_peers))
          tellers_peers = turn[at_index(peer)].first;
      last.push_back(way.last_of(rank, peers));
      seconds.push_back(dense_seconds(own_peers, telling_seconds(tellers_peers)));
    }
    way.add_stage(std::move(last), std::move(seconds));
  }
  const auto ranks = way.longest();
  for (std::size_t s = 0; s < stages.size(); ++s)
    std::tie(stages[s].peers, stages[s].tellers_peers) = turns[s][ranks[s]];
}

/// Sets group and peers, where groups wait for all of their ranks.
void SparseStages::await_groups(const Route& route, std::vector<DiscoveryGroup>& stages) const {
  struct Group {
    std::size_t ranks = 0;
    std::vector<ReductionRound> rounds;
    ByLevel peers{};  // the farthest of a member
  };
  std::vector<std::vector<Group>> groups(stages.size());
  std::vector<std::vector<std::size_t>> group_of(stages.size());
  Way way(layout_);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto ranks = way.done.size();
    std::vector<std::size_t> last(ranks);
    std::vector<Seconds> seconds(ranks);
    group_of[s].assign(ranks, ranks);
    for (Rank rank = 0; rank < layout_.ranks(); ++rank) {
      if (group_of[s][at_index(rank)] < ranks) continue;
      const auto members = route.group(rank, static_cast<int>(s));
      Group group{members.size(), reduction_rounds(members, layout_, alone_s_), {}};
      for (const Rank member : members) {
        const auto peers = count_peers(member, route.peers(member, static_cast<int>(s)));
        if (far_first(peers) > far_first(group.peers)) group.peers = peers;
      }
      Seconds taking = telling_seconds(group.peers);
      for (const auto& round : group.rounds) taking += alone_s_[round.level];
      const auto awaited = way.last_of(rank, members);
      for (const Rank member : members) {
        group_of[s][at_index(member)] = groups[s].size();
        last[at_index(member)] = awaited;
        seconds[at_index(member)] = taking;
      }
      groups[s].push_back(std::move(group));
    }
    way.add_stage(std::move(last), std::move(seconds));
  }
  const auto ranks = way.longest();
  for (std::size_t s = 0; s < stages.size(); ++s) {
    auto& group = groups[s][group_of[s][ranks[s]]];
    stages[s].ranks = static_cast<double>(group.ranks);
    stages[s].rounds = std::move(group.rounds);
    stages[s].peers = group.peers;
  }
}

ByLevel SparseStages::count_peers(Rank rank, std::span<const Rank> peers) const {
  ByLevel counts{};
  for (const Rank peer : peers) counts[level_or_outermost(layout_, rank, peer)] += peer != rank;
  return counts;
}

/// Until each peer has been told a size.
Seconds SparseStages::telling_seconds(const ByLevel& peers) const {
  return std::inner_product(peers.begin(), peers.end(), next_s_.begin(), Seconds{0});
}

/// Of a stage of sizes and messages. Few peers get a message besides their size.
/// @param told  when the last peer has told all its sizes
Seconds SparseStages::dense_seconds(const ByLevel& peers, Seconds told) const {
  constexpr double with_messages = 1.1;
  Seconds farthest = 0;
  for (std::size_t l = 0; l < most_levels; ++l)
    if (peers[l] > 0) farthest = alone_s_[l];
  return std::max(with_messages * telling_seconds(peers), told) + 2 * farthest;
}

}  // namespace commpass
