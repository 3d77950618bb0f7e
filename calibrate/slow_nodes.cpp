// Is a node slower than the others? Every node at once, within it and with its neighbours.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "calibrate/calibration.hpp"
#include "model/median.hpp"
#include "runtime/mpi/host_names.hpp"

namespace commpass {

namespace {

/// Pairs that are timed at once, and the nodes that each of them is about.
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

/// The first ranks of nodes that follow each other in a ring, so that no node is in two pairs of a round.
std::vector<Round> between_nodes(const Layout& layout) {
  const int nodes = layout.nodes();
  constexpr int least = 3;  // of two nodes their messages are as slow as either
  if (nodes < least) return {};
  std::vector<Round> rounds(least);
  for (int node = 0; node < nodes; ++node) {
    const bool is_odd_end = node + 1 == nodes && nodes % 2 == 1;
    auto& round = rounds[is_odd_end ? 2 : static_cast<std::size_t>(node % 2)];
    const int next = (node + 1) % nodes;
    round.pairs.push_back({layout.ranks_of(node).front(), layout.ranks_of(next).front()});
    round.nodes.push_back({node, next});
  }
  std::erase_if(rounds, [](const Round& round) { return round.pairs.empty(); });
  return rounds;
}

/// What was timed of a node: the quickest of its pairs, for the slowness of the other one's node is not its own.
using Times = std::map<int, Interval>;

Times times_of(Calibration& calibration, const std::vector<Round>& rounds, Bytes bytes, double share) {
  using Key = std::pair<std::size_t, std::size_t>;  // round and pair
  std::map<Key, Series> all;
  std::map<std::size_t, Series> of_round;  // each takes its samples; the pairs' times come with them
  for (std::size_t i = 0; i < rounds.size(); ++i) of_round[i];
  calibration.sampler.sample_all(of_round, share, [&](std::size_t index, int, int repetitions) {
    constexpr int enough = 20;  // to see what is far slower
    const auto times = calibration.bench.ping_pongs(rounds[index].pairs, bytes, std::min(enough, repetitions));
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

/// The nodes that take far longer than the median node, or of two than the faster one.
void find_slow(const Times& times, std::map<int, double>& slow) {
  if (times.size() < 2) return;
  std::vector<double> highs, lows;
  for (const auto& [node, interval] : times) {
    highs.push_back(interval.high);
    lows.push_back(interval.low);
  }
  const auto usual = [](const std::vector<double>& seconds) {
    constexpr std::size_t least_with_a_middle = 3;
    return seconds.size() < least_with_a_middle ? std::ranges::min(seconds) : median(seconds);
  };
  const double usual_high = usual(highs), usual_low = usual(lows);
  constexpr double far = 1.25;
  for (const auto& [node, interval] : times)
    if (interval.low > far * usual_high) slow[node] = std::max(slow[node], interval.low / usual_low);
}

}  // namespace

void find_slow_nodes(Calibration& calibration) {
  calibration.progress("nodes");
  std::map<int, double> slow;
  const auto within = within_nodes(calibration.layout);
  constexpr Bytes small = 8, large = Bytes{64} << 10;
  for (const auto bytes : {small, large}) {
    if (within.pairs.size() > 1) find_slow(times_of(calibration, {within}, bytes, node_share.end / 2), slow);
    if (const auto rounds = between_nodes(calibration.layout); !rounds.empty())
      find_slow(times_of(calibration, rounds, bytes, node_share.end), slow);
  }
  const auto hosts = host_names(calibration.comm.get());
  for (const auto& [node, times_as_long] : slow) {
    const auto rank = static_cast<std::size_t>(calibration.layout.ranks_of(node).front());
    calibration.provenance.slow_nodes.push_back({node, times_as_long, rank < hosts.size() ? hosts[rank] : ""});
  }
}

}  // namespace commpass
