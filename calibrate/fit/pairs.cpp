#include "calibrate/fit/pairs.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace commpass {

namespace {

/// The nodes by falling number of ranks.
std::vector<int> nodes_by_size(const Layout& layout) {
  std::vector<int> nodes(at(layout.nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::ranges::stable_sort(nodes, std::greater{}, [&](int n) { return layout.ppn(n); });
  return nodes;
}

std::vector<Pair> network_pairs(const Layout& layout) {
  std::vector<Pair> pairs;
  if (layout.nodes() < 2) return pairs;
  const auto nodes = nodes_by_size(layout);
  const auto here = layout.ranks_of(nodes[0]), there = layout.ranks_of(nodes[1]);
  for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) pairs.push_back({here[i], there[i]});
  return pairs;
}

/// Pairs within a node, all in one instance of the level.
std::vector<Pair> pairs_within(const Layout& layout, int node, Level level) {
  const auto ranks = layout.ranks_of(node);
  const auto* const instance_of = layout.instance_of(level);
  std::vector<bool> used(ranks.size(), false);
  std::vector<Pair> found;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t j = i + 1; j < ranks.size() && !used[i]; ++j) {
      if (used[j] || layout.channel_level(ranks[i], ranks[j]) != level) continue;
      if (!found.empty() && instance_of[found.front().first] != instance_of[ranks[i]]) continue;
      used[i] = used[j] = true;
      found.push_back({ranks[i], ranks[j]});
    }
  return found;
}

}  // namespace

std::vector<Pair> disjoint_pairs(const Layout& layout, Level level) {
  if (level == layout.outermost()) return network_pairs(layout);
  std::vector<Pair> most;
  for (int node = 0; node < layout.nodes(); ++node)
    if (auto pairs = pairs_within(layout, node, level); pairs.size() > most.size()) most = std::move(pairs);
  return most;
}

std::vector<Pair> pairs_into_one_node(const Layout& layout) {
  const auto nodes = nodes_by_size(layout);
  std::vector<Rank> senders;
  for (int i = 0; i < layout.max_ppn(); ++i)
    for (std::size_t n = 1; n < nodes.size(); ++n)
      if (i < layout.ppn(nodes[n])) senders.push_back(layout.ranks_of(nodes[n])[at(i)]);
  const auto receivers = layout.ranks_of(nodes[0]);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < std::min(senders.size(), receivers.size()); ++i)
    pairs.push_back({senders[i], receivers[i]});
  return pairs;
}

std::vector<Pair> pairs_out_of_one_node(const Layout& layout) {
  auto pairs = pairs_into_one_node(layout);
  for (auto& [first, second] : pairs) std::swap(first, second);
  return pairs;
}

std::vector<Rank> partners(const Layout& layout, Rank rank, Level level) {
  constexpr std::size_t partners_max = 16;
  std::vector<Rank> result;
  for (int i = 0; i < layout.max_ppn(); ++i)
    for (int node = 0; node < layout.nodes() && result.size() < partners_max; ++node) {
      if (i >= layout.ppn(node)) continue;
      const Rank other = layout.ranks_of(node)[at(i)];
      if (other != rank && layout.channel_level(other, rank) == level) result.push_back(other);
    }
  std::ranges::sort(result);
  return result;
}

std::vector<std::vector<Rank>> rings_between_nodes(const Layout& layout) {
  std::vector<std::vector<Rank>> rings(at(layout.max_ppn()));
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto ranks = layout.ranks_of(node);
    for (std::size_t i = 0; i < ranks.size(); ++i) rings[i].push_back(ranks[i]);
  }
  std::erase_if(rings, [](const auto& ring) { return ring.size() < 2; });
  return rings;
}

namespace {

using Members = std::map<int, std::vector<Rank>>;  // by instance

void add_rings_between(const Members& instances, std::vector<std::vector<Rank>>& rings) {
  for (std::size_t position = 0;; ++position) {
    std::vector<Rank> there;  // of the instances with more ranks than `position`
    for (const auto& [instance, members] : instances)
      if (position < members.size()) there.push_back(members[position]);
    if (there.size() < 2) return;
    const auto step = 1 + position % (there.size() - 1);
    for (std::size_t first = 0; first < std::gcd(step, there.size()); ++first) {
      auto& ring = rings.emplace_back();
      for (auto next = first; ring.empty() || next != first; next = (next + step) % there.size())
        ring.push_back(there[next]);
    }
  }
}

}  // namespace

std::vector<std::vector<Rank>> rings_between(const Layout& layout, Level level) {
  const auto* const instance_of = layout.instance_of(level);
  if (!instance_of) return {};
  auto outer = level + 1U;
  while (outer < layout.outermost() && layout.instances(static_cast<Level>(outer)) == 0) ++outer;
  const auto* const outer_of = layout.instance_of(static_cast<Level>(outer));
  std::map<int, Members> within;  // an instance of the next outer level
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    within[outer_of ? outer_of[rank] : 0][instance_of[rank]].push_back(rank);
  std::vector<std::vector<Rank>> rings;
  for (const auto& [instance, instances] : within) add_rings_between(instances, rings);
  return rings;
}

std::vector<std::vector<Rank>> rings_within(const Layout& layout, Level level) {
  const auto sizes = layout.ranks_of_instances(level);
  const auto largest = std::ranges::max_element(sizes) - sizes.begin();
  std::map<int, std::vector<Rank>> of_innermost;
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    if (layout.instance_of(level)[rank] == largest) of_innermost[layout.instance_of(0)[rank]].push_back(rank);
  std::vector<std::vector<Rank>> rings;
  for (const auto& [instance, ring] : of_innermost)
    if (ring.size() > 1) rings.push_back(ring);
  return rings;
}

}  // namespace commpass
