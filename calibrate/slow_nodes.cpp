// Finds slow nodes: ping-pongs on all nodes at once, within each and with its neighbours.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "calibrate/calibration.hpp"
#include "model/median.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// Pairs that are timed at once, and the nodes of each pair.
struct Round {
  std::vector<Pair> pairs;
  std::vector<std::vector<int>> nodes;  ///< of each pair
};

/// The first two ranks of every node.
Round within_nodes(const Layout& layout) {
  Round round;
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto ranks = layout.ranks_of(node);
    if (ranks.size() < 2) continue;
    round.pairs.push_back({ranks[0], ranks[1]});
    round.nodes.push_back({node});
  }
  return round;
}

/// Pairs of the first ranks of neighbouring nodes in a ring. In a round, no node is in two pairs.
std::vector<Round> between_nodes(const Layout& layout) {
  const int nodes = layout.nodes();
  constexpr int nodes_min = 3;  // messages between two nodes do not show which one is slow
  if (nodes < nodes_min) return {};
  std::vector<Round> rounds(3);
  for (int node = 0; node < nodes; ++node) {
    const bool is_odd_end = node + 1 == nodes && nodes % 2 == 1;
    auto& round = rounds[is_odd_end ? 2 : at(node % 2)];
    const int next = (node + 1) % nodes;
    round.pairs.push_back({layout.ranks_of(node).front(), layout.ranks_of(next).front()});
    round.nodes.push_back({node, next});
  }
  std::erase_if(rounds, [](const Round& round) { return round.pairs.empty(); });
  return rounds;
}

/// The time of each node: that of its fastest pair, since the other node of a pair may be the slow one.
using Times = std::map<int, Interval>;

Times times_of(Calibration& calibration, const std::vector<Round>& rounds, Bytes bytes, double share) {
  using Key = std::pair<std::size_t, std::size_t>;  // round and pair
  std::map<Key, Series> all;
  std::map<std::size_t, Series> of_round;  // samples medians; `all` collects the times of the pairs
  for (std::size_t i = 0; i < rounds.size(); ++i) of_round[i];
  calibration.sampler.sample_all(of_round, share, [&](std::size_t index, int, int repetitions) {
    constexpr int repetitions_max = 20;
    const auto times = calibration.bench.ping_pongs(rounds[index].pairs, bytes, std::min(repetitions_max, repetitions));
    for (std::size_t pair = 0; pair < times.size(); ++pair) all[{index, pair}].samples.push_back(times[pair]);
    return median(times);
  });
  Times result;
  for (const auto& [key, series] : all)
    for (const int node : rounds[key.first].nodes[key.second]) {
      const auto interval = lower_quartile_interval(series.samples);
      const auto [entry, is_new] = result.try_emplace(node, interval);
      if (!is_new && interval.low < entry->second.low) entry->second = interval;
    }
  return result;
}

/// Adds nodes that are slower than the median node by 25 %, or of two nodes than the faster one.
void add_slow_nodes(const Times& times, std::map<int, double>& slow) {
  if (times.size() < 2) return;
  std::vector<double> highs, lows;
  for (const auto& [node, interval] : times) {
    highs.push_back(interval.high);
    lows.push_back(interval.low);
  }
  const auto usual = [](const std::vector<double>& seconds) {
    return seconds.size() > 2 ? median(seconds) : std::ranges::min(seconds);
  };
  const double usual_high = usual(highs), usual_low = usual(lows);
  constexpr double slow_ratio = 1.25;
  for (const auto& [node, interval] : times)
    if (interval.low > slow_ratio * usual_high) slow[node] = std::max(slow[node], interval.low / usual_low);
}

}  // namespace

void find_slow_nodes(Calibration& calibration) {
  calibration.progress("nodes");
  std::map<int, double> slow;
  const auto within = within_nodes(calibration.layout);
  constexpr Bytes small = 8, large = Bytes{64} << 10;
  for (const auto bytes : {small, large}) {
    if (within.pairs.size() > 1) add_slow_nodes(times_of(calibration, {within}, bytes, node_share.end / 2), slow);
    if (const auto rounds = between_nodes(calibration.layout); !rounds.empty())
      add_slow_nodes(times_of(calibration, rounds, bytes, node_share.end), slow);
  }
  const auto hosts = host_names(calibration.comm.get());
  for (const auto& [node, times_as_long] : slow) {
    const auto rank = static_cast<std::size_t>(calibration.layout.ranks_of(node).front());
    calibration.provenance.slow_nodes.push_back({node, times_as_long, rank < hosts.size() ? hosts[rank] : ""});
  }
}

}  // namespace commpass
