// Which ranks of two nodes speak for them in level-aware exchanges.
#pragma once

#include <map>
#include <utility>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass::bench {

/// The nodes that a node speaks with are dealt to its ranks in turn.
class NodeSpeakers {
 public:
  NodeSpeakers(const Pattern& pattern, const Layout& layout) : layout_(layout) {
    for (const auto& edge : pattern.edges) {
      const int here = layout.node(edge.source), there = layout.node(edge.destination);
      if (here == there || edge.bytes == 0) continue;
      sends_.try_emplace({here, there}, 0);
      receives_.try_emplace({there, here}, 0);
    }
    number(sends_);
    number(receives_);
  }

  Rank sender(int here, int there) const { return rank_of(here, sends_.at({here, there})); }
  Rank receiver(int here, int there) const { return rank_of(there, receives_.at({there, here})); }

 private:
  using Numbers = std::map<std::pair<int, int>, int>;

  static void number(Numbers& numbers) {
    int node = -1, next = 0;
    for (auto& [pair, own] : numbers) {
      if (pair.first != node) next = 0;
      node = pair.first;
      own = next++;
    }
  }
  Rank rank_of(int node, int number) const {
    const auto ranks = layout_.ranks_of(node);
    return ranks[static_cast<std::size_t>(number) % ranks.size()];
  }

  const Layout& layout_;
  Numbers sends_, receives_;  // by the node and the other node
};

}  // namespace commpass::bench
