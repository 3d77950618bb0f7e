// The rates that ranks share: of a socket, of a node, into and out of the network.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/steps.hpp"

namespace commpass {

namespace {

/// Of messages that show what is shared: they move for much longer than they are under way, where there are so large
/// ones.
Bytes large_bytes(Calibration& calibration, Level level) {
  const Bytes largest = calibration.options.largest_bytes;
  const auto& [alpha_s, beta] = lone_messages(calibration.channel(level).protocols.back()).line;
  constexpr double much = 30;
  const double wanted = beta > 0 ? much * alpha_s / beta : 0;
  return std::llround(std::clamp(wanted, static_cast<double>(largest / 4), static_cast<double>(largest)));
}

/// In which a message in two halves moves no bytes yet.
Seconds begin_seconds(Calibration& calibration, Level level, Bytes bytes) {
  return calibration.channel(level).protocol(bytes / 2).alpha_s;
}

/// What a sweep finds.
struct SweptRate {
  double bytes_per_s = 0;  ///< infinite: not reached
  /// Where only all pairs reach it, and some nodes at their other ends have one more than others: the rate of these
  /// that would explain it as well.
  std::optional<double> or_at_other_ends{};
};

/// The rate that the pairs share, from a sweep over how many of the first of them are active.
/// @param pairs     at least two
/// @param multiple  numbers of pairs are multiples of it, so that the pairs begin or end evenly on all nodes
/// @param what   the parameter, for what is told if the pairs do not reach its limit
SweptRate sweep(Calibration& calibration, const std::vector<Pair>& pairs, Level level, int multiple, double share,
                const std::string& what) {
  std::vector<int> counts{1};
  for (const int times : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128})
    if (const int count = times * multiple; count > 1 && count < std::ssize(pairs)) counts.push_back(count);
  const auto even_counts = counts.size();
  const int all = static_cast<int>(pairs.size());
  counts.push_back(all);
  const Bytes bytes = large_bytes(calibration, level);
  std::map<int, Series> sweeps;
  for (const int count : counts) sweeps[count];
  calibration.sampler.sample_all(sweeps, share, [&](int count, int, int repetitions) {
    std::vector<Rank> senders, receivers;
    for (int i = 0; i < count; ++i) {
      senders.push_back(pairs[static_cast<std::size_t>(i)].first);
      receivers.push_back(pairs[static_cast<std::size_t>(i)].second);
    }
    constexpr int least = 4;  // so that ranks that leave the barrier late do not count
    return calibration.bench.streams(senders, receivers, bytes, begin_seconds(calibration, level, bytes),
                                     std::max(least, repetitions));
  });
  std::vector<double> seconds;
  std::vector<Interval> intervals;
  for (const int count : counts) {
    seconds.push_back(sweeps.at(count).time());
    intervals.push_back(lower_quartile_interval(sweeps.at(count).samples));
  }
  calibration.provenance.sharing.push_back(
      {what, calibration.name_of(level), bytes, counts, seconds, std::move(intervals)});
  const auto rate_of_first = [&](std::size_t number) {
    return fit_shared_rate(std::span(counts).first(number), std::span(seconds).first(number), bytes,
                           calibration.channel(level).protocol(bytes).alpha_s,
                           std::span(calibration.provenance.sharing.back().interval_s).first(number));
  };
  // Where all are as many on each node, that is one more even count.
  const bool is_even = even_counts == 1 || all % multiple == 0;
  SweptRate rate{rate_of_first(is_even ? counts.size() : even_counts)};
  if (!is_even && !std::isfinite(rate.bytes_per_s)) {
    rate.bytes_per_s = rate_of_first(counts.size());
    const int most = (all + multiple - 1) / multiple;
    if (std::isfinite(rate.bytes_per_s)) rate.or_at_other_ends = rate.bytes_per_s * most / all;
  }
  if (!std::isfinite(rate.bytes_per_s))
    calibration.not_measured(fmt::format("{}: not reached by {} pairs", what, pairs.size()));
  return rate;
}

}  // namespace

void measure_sharing(Calibration& calibration, Level level) {
  calibration.progress(fmt::format("sharing, {}", calibration.name_of(level)));
  const auto& layout = calibration.layout;
  const bool between_nodes = level == layout.outermost();
  const auto what = between_nodes ? calibration.level_key(layout.node_level(), "up_rate_bytes_per_s")
                                  : calibration.host_key(level, "aggregate_rate_bytes_per_s");
  // Into several nodes, if there are, so that it is not what one of them takes in.
  const auto pairs = between_nodes ? pairs_out_of_one_node(layout) : calibration.pairs(level);
  if (pairs.size() < 2) {
    calibration.not_measured(what + ": needs two disjoint pairs of ranks");
    return;
  }
  auto& rate = between_nodes ? calibration.machine.levels[layout.node_level()].up_rate_bytes_per_s
                             : calibration.channel(level).aggregate_rate_bytes_per_s;
  const int multiple = between_nodes ? layout.nodes() - 1 : 1;
  const auto found = sweep(calibration, pairs, level, multiple, sharing_share.of(level, calibration.levels).end, what);
  rate = found.bytes_per_s;
  if (between_nodes) calibration.rate_in_place_of_injection = found.or_at_other_ends;
}

std::vector<Level> levels_with_others_within(const Layout& layout) {
  std::vector<Level> levels{layout.node_level()};
  for (Level level = layout.node_level(); level-- > 1;) levels.insert(levels.begin(), level);
  return levels;
}

std::vector<Level> levels_of_groups(const Layout& layout) {
  std::vector<Level> levels;
  for (Level level = layout.node_level() + 1; level < layout.outermost(); ++level)
    if (layout.instances(level) > 1) levels.push_back(level);
  return levels;
}

namespace {

constexpr double nearly = 0.9;  // of a rate: as good as that

/// What ranks of rings move together when all are busy.
/// @param expected_s  what a round takes beyond α if they share nothing that is not known yet
/// @return bytes per second of all; infinity if that explains it
double rate_of_rings(Calibration& calibration, const std::vector<std::vector<Rank>>& rings, Level level, double share,
                     Bytes bytes, Seconds expected_s) {
  std::map<int, Series> series{{0, {}}};
  calibration.sampler.sample_all(series, share, [&](int, int, int repetitions) {
    constexpr int least = 4;
    return calibration.bench.rings(rings, bytes, begin_seconds(calibration, level, bytes),
                                   std::max(least, repetitions));
  });
  const auto seconds = series.at(0).time() - calibration.channel(level).protocol(bytes).alpha_s;
  double ranks = 0;
  for (const auto& ring : rings) ranks += static_cast<double>(ring.size());
  return nearly * seconds > expected_s ? ranks * static_cast<double>(bytes) / seconds
                                       : std::numeric_limits<double>::infinity();
}

Seconds moving_seconds(Calibration& calibration, Level level) {
  const Bytes bytes = large_bytes(calibration, level);
  return static_cast<double>(bytes) * calibration.channel(level).protocol(bytes).beta_s_per_byte;
}

/// Of a large message from each rank to one in another instance of a level outside nodes, where no more than links,
/// NICs and what is within limits.
/// @param ranks  of a node that send
Seconds sending_seconds(Calibration& calibration, int ranks, Level level) {
  const auto& layout = calibration.layout;
  const auto& levels = calibration.machine.levels;
  const auto bytes = static_cast<double>(large_bytes(calibration, layout.outermost()));
  Seconds seconds = std::max(moving_seconds(calibration, layout.outermost()),
                             ranks * bytes / levels[layout.node_level()].up_rate_bytes_per_s);
  for (const auto inner : levels_of_groups(layout))
    if (inner < level)
      seconds = std::max(
          seconds, std::ranges::max(layout.ranks_of_instances(inner)) * bytes / levels[inner].up_rate_bytes_per_s);
  return seconds;
}

}  // namespace

void measure_inside(Calibration& calibration, Level level) {
  calibration.progress(fmt::format("all ranks of a {}", calibration.name_of(level)));
  const auto& layout = calibration.layout;
  auto& levels = calibration.machine.levels;
  const auto what = calibration.level_key(level, "inside_rate_bytes_per_s");
  const auto rings = rings_within(layout, level);
  const auto has_three = [](const std::vector<Rank>& ring) { return ring.size() > 2; };
  if (rings.size() < 2 && std::ranges::none_of(rings, has_three)) {
    calibration.not_measured(fmt::format("{}: needs three ranks on a {}, two of them on a {}", what,
                                         calibration.name_of(level), calibration.name_of(0)));
    return;
  }
  const Bytes bytes = large_bytes(calibration, 0);
  Seconds expected = moving_seconds(calibration, 0);
  const auto limit = [&](double ranks, double rate) {
    expected = std::max(expected, ranks * static_cast<double>(bytes) / rate);
  };
  for (const auto& ring : rings) {
    limit(static_cast<double>(ring.size()), calibration.channel(0).aggregate_rate_bytes_per_s);
    for (Level inner = 1; inner < level; ++inner) {
      const auto* const instance_of = layout.instance_of(inner);
      const auto of_same = [&](const std::vector<Rank>& other) {
        return instance_of[other.front()] == instance_of[ring.front()] ? other.size() : 0;
      };
      std::size_t ranks = 0;
      for (const auto& other : rings) ranks += of_same(other);
      limit(static_cast<double>(ranks), levels[inner].inside_rate_bytes_per_s);
    }
  }
  auto& rate = levels[level].inside_rate_bytes_per_s;
  rate =
      rate_of_rings(calibration, rings, 0, bus_share.of(level, levels_with_others_within(layout)).end, bytes, expected);
  if (!std::isfinite(rate))
    calibration.not_measured(
        fmt::format("{}: all ranks of a {} at once do not fill it", what, calibration.name_of(level)));
}

void measure_core(Calibration& calibration) {
  const auto& layout = calibration.layout;
  const auto outermost = layout.outermost();
  const auto what = calibration.level_key(outermost, "node_share_bytes_per_s");
  calibration.progress("all nodes");
  const auto rings = rings_between_nodes(layout);
  if (rings.empty()) {
    calibration.not_measured(what + ": needs two nodes");
    return;
  }
  if (!levels_of_groups(layout).empty()) {
    calibration.not_measured(what + ": what groups of nodes share is measured in its place");
    return;
  }
  auto& rate = calibration.machine.levels[outermost].node_share_bytes_per_s;
  rate = rate_of_rings(calibration, rings, outermost, core_share.end, large_bytes(calibration, outermost),
                       sending_seconds(calibration, static_cast<int>(rings.size()), outermost)) /
         layout.nodes();
  if (!std::isfinite(rate)) calibration.not_measured(what + ": all nodes at once send as much as each alone");
}

namespace {

void measure_group(Calibration& calibration, Level level) {
  const auto& layout = calibration.layout;
  const auto& name = calibration.name_of(level);
  calibration.progress(fmt::format("all {}s", name));
  const double rate = rate_of_rings(
      calibration, rings_between(layout, level), layout.outermost(), core_share.of(level, levels_of_groups(layout)).end,
      large_bytes(calibration, layout.outermost()), sending_seconds(calibration, layout.max_ppn(), level));
  auto& found = calibration.machine.levels[level];
  found.up_rate_bytes_per_s = found.down_rate_bytes_per_s =
      rate * std::ranges::max(layout.ranks_of_instances(level)) / layout.ranks();
  if (!std::isfinite(rate))
    calibration.not_measured(fmt::format("{}: all nodes of a {} at once send as much as each alone",
                                         calibration.level_key(level, "up_rate_bytes_per_s"), name));
}

/// What moves to a node if it takes in all that its senders' NICs and the links of groups move, when the slowest ends.
double rate_into(std::span<const Pair> pairs, const Calibration& calibration) {
  const auto& layout = calibration.layout;
  const auto& levels = calibration.machine.levels;
  std::map<int, int> out_of_node;
  std::map<std::pair<Level, int>, int> out_of_group;
  std::map<Level, int> into_group;
  Seconds slowest = 0;  // of a byte of each pair
  for (const auto& [sender, receiver] : pairs) {
    slowest = std::max(slowest, ++out_of_node[layout.node(sender)] / levels[layout.node_level()].up_rate_bytes_per_s);
    for (const auto level : levels_of_groups(layout)) {
      if (layout.level(sender, receiver) <= level) continue;
      const int most = std::max(++out_of_group[{level, layout.instance_of(level)[sender]}], ++into_group[level]);
      slowest = std::max(slowest, most / levels[level].up_rate_bytes_per_s);
    }
  }
  return static_cast<double>(pairs.size()) / slowest;
}

}  // namespace

void measure_groups(Calibration& calibration) {
  for (const auto level : levels_of_groups(calibration.layout)) measure_group(calibration, level);
}

void measure_ejection(Calibration& calibration) {
  const auto& layout = calibration.layout;
  const auto outermost = layout.outermost();
  auto &node = calibration.machine.levels[layout.node_level()], &network = calibration.machine.levels[outermost];
  const auto what = calibration.level_key(layout.node_level(), "down_rate_bytes_per_s");
  calibration.progress("all nodes to one");
  const auto pairs = pairs_into_one_node(layout);
  std::set<int> senders;
  for (const auto& pair : pairs) senders.insert(layout.node(pair.first));
  // From a single node no more comes than it injects.
  if (senders.size() < 2) {
    calibration.not_measured(what + ": needs three nodes, and two ranks on the one that receives");
    return;
  }
  const auto found = sweep(calibration, pairs, outermost, layout.nodes() - 1, ejection_share.end, what);
  const double rate = found.bytes_per_s;
  if (!std::isfinite(rate)) return;
  if (calibration.rate_in_place_of_injection >= nearly * rate) {
    node.up_rate_bytes_per_s = std::numeric_limits<double>::infinity();
    calibration.not_measured(calibration.level_key(layout.node_level(), "up_rate_bytes_per_s") +
                             ": what one node sends is what others take in");
  }
  const auto even_pairs = found.or_at_other_ends ? pairs.size() : pairs.size() / senders.size() * senders.size();
  const double sent = !levels_of_groups(layout).empty() || found.or_at_other_ends
                          ? rate_into(std::span(pairs).first(even_pairs), calibration)
                          : static_cast<double>(senders.size()) * node.up_rate_bytes_per_s;
  if (rate >= nearly * sent) {
    calibration.not_measured(fmt::format("{}: a node takes in all that {} others inject", what, senders.size()));
    return;
  }
  if (rate >= nearly * network.node_share_bytes_per_s * layout.nodes()) {
    calibration.not_measured(what + ": a node takes in all that the network moves");
    return;
  }
  node.down_rate_bytes_per_s = rate;
  // Where all nodes take in what each of them can, it is not the network that limits them.
  if (network.node_share_bytes_per_s < nearly * rate || !std::isfinite(network.node_share_bytes_per_s)) return;
  network.node_share_bytes_per_s = std::numeric_limits<double>::infinity();
  calibration.not_measured(calibration.level_key(outermost, "node_share_bytes_per_s") +
                           ": all nodes at once send as much as each takes in");
}

}  // namespace commpass
