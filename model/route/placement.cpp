#include "model/route/placement.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "model/base/error.hpp"

namespace commpass {

namespace {

/// Ranks that change places together with those of another unit, one for one.
using Unit = std::span<const Rank>;

/// Units that may trade places with each other.
using Peers = std::vector<Unit>;

std::vector<Peers> nodes_of_equal_size(const Layout& layout) {
  std::map<std::size_t, Peers> by_size;
  for (int node = 0; node < layout.nodes(); ++node)
    by_size[layout.ranks_of(node).size()].push_back(layout.ranks_of(node));
  std::vector<Peers> result;
  for (auto& [size, nodes] : by_size) result.push_back(std::move(nodes));
  return result;
}

std::vector<Peers> ranks_of_each_node(const Layout& layout) {
  std::vector<Peers> result(static_cast<std::size_t>(layout.nodes()));
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto ranks = layout.ranks_of(node);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      result[static_cast<std::size_t>(node)].push_back(Unit(ranks).subspan(i, 1));
  }
  return result;
}

/// What two ranks exchange, as one of them sees it.
struct Traffic {
  Rank peer = 0;
  double sent = 0, received = 0;  // bytes
};

/// How often something is sent, or the bytes of that: within nodes and between them.
struct Hops {
  double near = 0, far = 0;

  double all() const { return near + far; }
  double weighted() const {
    // About the ratio of the eager β between nodes to that between the sockets of a node in profiles/lassen.json.
    constexpr double weight_between_nodes = 2;
    return near + weight_between_nodes * far;
  }
};

class Placer {
 public:
  Placer(const Route& route, const Layout& layout, const Pattern& pattern)
      : route_(route),
        layout_(layout),
        after_(route.stages().size()),
        positions_(static_cast<std::size_t>(layout.ranks())),
        moves_(positions_.size(), false) {
    keep_numbers();
    collect(pattern);
    sent_at_first_ = bytes_sent();
  }

  /// Lets units trade places, those next to each other first, until no trade pays, or trades pay little, or
  /// `most_prices` are spent.
  void improve(const std::vector<Peers>& all) {
    std::vector<std::pair<const Peers*, std::vector<std::size_t>>> with_traffic;
    std::size_t most_peers = 0;
    for (const auto& peers : all)
      if (auto units = units_with_traffic(peers); !units.empty()) {
        with_traffic.emplace_back(&peers, std::move(units));
        most_peers = std::max(most_peers, peers.size());
      }
    prices_left_ = most_prices;
    part_ends_ = most_prices - prices_of_part;
    saved_ = 0;
    for (bool improved = true; improved;) {
      improved = false;
      for (std::size_t apart = 1; apart < most_peers; ++apart)
        for (const auto& [peers, units] : with_traffic)
          if (!trade_all(*peers, units, apart, improved)) return;
    }
  }

  Hops bytes_sent() {
    Hops bytes;
    for (std::size_t rank = 0; rank < positions_.size(); ++rank)
      for (const auto& [peer, sent, received] : traffic_of(static_cast<Rank>(rank))) {
        if (sent == 0) continue;
        const auto way = hops(positions_[rank], positions_[static_cast<std::size_t>(peer)]);
        bytes.near += sent * way.near;
        bytes.far += sent * way.far;
      }
    return bytes;
  }

  Hops sent_at_first() const { return sent_at_first_; }

  /// Every rank at its own number.
  void keep_numbers() { std::iota(positions_.begin(), positions_.end(), Rank{0}); }

  const std::vector<Rank>& positions() const { return positions_; }

 private:
  /// The places among the peers of those that send or receive. Trades of two that do not could be tried without end:
  /// nothing is priced for them.
  std::vector<std::size_t> units_with_traffic(const Peers& peers) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < peers.size(); ++i)
      if (std::ranges::any_of(peers[i], [&](Rank rank) { return !traffic_of(rank).empty(); })) result.push_back(i);
    return result;
  }

  /// Tries the trades of units that are so far apart, of which at least one has traffic, in order. @return false: no
  /// prices are left
  bool trade_all(const Peers& peers, const std::vector<std::size_t>& with_traffic, std::size_t apart, bool& improved) {
    auto first = with_traffic.begin(),
         second = std::ranges::lower_bound(with_traffic, apart);  // as the first and as the second of a trade
    while (first != with_traffic.end() || second != with_traffic.end()) {
      const auto i = second == with_traffic.end() || (first != with_traffic.end() && *first + apart < *second)
                         ? *first
                         : *second - apart;
      if (first != with_traffic.end() && *first == i) ++first;
      if (second != with_traffic.end() && *second == i + apart) ++second;
      if (i + apart >= peers.size()) return true;
      if (prices_left_ <= 0 || pays_little()) return false;
      improved |= trade_if_it_pays(peers[i], peers[i + apart]);
    }
    return true;
  }

  /// Asked between trades: has too little been saved in the part of the prices that ends?
  bool pays_little() {
    if (prices_left_ > part_ends_) return false;
    constexpr double little = 0.001;
    part_ends_ = prices_left_ - prices_of_part;
    return std::exchange(saved_, 0) < little * sent_at_first_.weighted();
  }

  // The most paths between two ranks that are priced for nodes, and again for ranks: some tenths of a second.
  static constexpr std::int64_t most_prices = std::int64_t{1} << 21, prices_of_part = most_prices / 8;

  void collect(const Pattern& pattern) {
    std::vector<std::pair<Rank, Traffic>> entries;
    for (const auto& edge : pattern.edges) {
      if (edge.bytes == 0 || edge.source == edge.destination) continue;
      const auto bytes = static_cast<double>(edge.bytes);
      entries.push_back({edge.source, {edge.destination, bytes, 0}});
      entries.push_back({edge.destination, {edge.source, 0, bytes}});
    }
    const auto ends = [](const auto& entry) { return std::pair(entry.first, entry.second.peer); };
    std::ranges::stable_sort(entries, {}, ends);
    first_.assign(positions_.size() + 1, 0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& traffic = entries[i].second;
      if (i > 0 && ends(entries[i]) == ends(entries[i - 1])) {
        traffic_.back().sent += traffic.sent;
        traffic_.back().received += traffic.received;
      } else {
        traffic_.push_back(traffic);
        ++first_[static_cast<std::size_t>(entries[i].first) + 1];
      }
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  std::span<const Traffic> traffic_of(Rank rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(traffic_).subspan(first_[r], first_[r + 1] - first_[r]);
  }

  /// How often a block between two positions is sent. (Trades keep ranks of different nodes apart, so the layout of
  /// the ranks at their own numbers tells which hops leave a node.)
  Hops hops(Rank from, Rank to) {
    --prices_left_;
    route_.way(from, to, after_);
    Hops hops;
    Rank at = from;
    for (const Rank next : after_) {
      if (next != at) ++(layout_.node(next) == layout_.node(at) ? hops.near : hops.far);
      at = next;
    }
    return hops;
  }

  /// What the traffic of some ranks costs, each pair once; something from `enough` on if it is that much.
  double price(Unit unit, Unit other, double enough = std::numeric_limits<double>::infinity()) {
    double sum = 0;
    for (const auto ranks : {unit, other})
      for (const auto rank : ranks)
        for (const auto& [peer, sent, received] : traffic_of(rank)) {
          if (moves_[static_cast<std::size_t>(peer)] && peer < rank) continue;
          const Rank here = positions_[static_cast<std::size_t>(rank)],
                     there = positions_[static_cast<std::size_t>(peer)];
          if (sent > 0) sum += sent * hops(here, there).weighted();
          if (received > 0) sum += received * hops(there, here).weighted();
          if (sum >= enough) return sum;
        }
    return sum;
  }

  void trade(Unit unit, Unit other) {
    for (std::size_t i = 0; i < unit.size(); ++i)
      std::swap(positions_[static_cast<std::size_t>(unit[i])], positions_[static_cast<std::size_t>(other[i])]);
  }

  bool trade_if_it_pays(Unit unit, Unit other) {
    const auto mark = [&](bool moves) {
      for (const auto ranks : {unit, other})
        for (const auto rank : ranks) moves_[static_cast<std::size_t>(rank)] = moves;
    };
    mark(true);
    const double before = price(unit, other);
    trade(unit, other);
    const double after = price(unit, other, before);
    const bool pays = after < before;
    if (pays) saved_ += before - after;
    else trade(unit, other);
    mark(false);
    return pays;
  }

  const Route& route_;
  const Layout& layout_;
  std::vector<Rank> after_;  // each stage, of the way that is being priced
  std::vector<Rank> positions_;
  std::vector<Traffic> traffic_;    // by rank, then by peer
  std::vector<std::size_t> first_;  // by rank: its first in traffic_
  std::vector<bool> moves_;         // by rank: is it part of the trade that is being priced?
  std::int64_t prices_left_ = 0, part_ends_ = 0;
  Hops sent_at_first_;
  double saved_ = 0;  ///< since the part began
};

}  // namespace

std::vector<Rank> place_ranks(const Route& route, const Layout& layout, const Pattern& pattern) {
  if (pattern.ranks != layout.ranks())
    throw InputError("layout", fmt::format("it has {} ranks but the pattern has {}", layout.ranks(), pattern.ranks),
                     "use a layout for the pattern's ranks");
  Placer placer(route, layout, pattern);
  placer.improve(nodes_of_equal_size(layout));
  placer.improve(ranks_of_each_node(layout));
  if (placer.bytes_sent().all() > placer.sent_at_first().all())
    placer.keep_numbers();  // fewer bytes between nodes may mean more in all
  return placer.positions();
}

}  // namespace commpass
