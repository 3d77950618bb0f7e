// Rates that ranks share: of a socket, of a node, into and out of the network.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "calibrate/bursts.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/fit/fit.hpp"

namespace commpass {

namespace {

constexpr double same_rate_ratio = 0.9;  // of a rate: higher ones are equal to it
constexpr int repetitions_min = 4;       // so that ranks that leave the barrier late do not count

/// The size of messages that show a shared rate: bandwidth exceeds latency as far as the largest size allows.
Bytes large_bytes(Calibration& calibration, Level level) {
  const Bytes largest = calibration.options.largest_bytes;
  const auto& [alpha_s, beta] = lone_messages(calibration.channel(level).protocols.back()).line;
  constexpr double bandwidth_latency_ratio = 30;
  const double wanted = beta > 0 ? bandwidth_latency_ratio * alpha_s / beta : 0;
  return std::llround(std::clamp(wanted, static_cast<double>(largest / 4), static_cast<double>(largest)));
}

/// The latency of a message in two halves.
Seconds begin_seconds(Calibration& calibration, Level level, Bytes bytes) {
  return calibration.channel(level).protocol(bytes / 2).alpha_s;
}

struct SweptRate {
  double bytes_per_s = 0;  ///< infinite: not reached
  /// If only all pairs reach the rate, and the nodes at their other ends have unequal numbers of pairs: the rate of
  /// these nodes that explains the times as well.
  std::optional<double> or_at_other_ends{};
};

/// The rate that pairs share, from a sweep over the number of active pairs.
/// @param pairs     at least two
/// @param multiple  numbers of pairs are multiples of it, so that all nodes at one end have equally many
/// @param what      the parameter
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
      senders.push_back(pairs[at(i)].first);
      receivers.push_back(pairs[at(i)].second);
    }
    return calibration.bench.streams(senders, receivers, bytes, begin_seconds(calibration, level, bytes),
                                     std::max(repetitions_min, repetitions));
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
  const auto what = calibration.shared_rate_key(level);
  if (!calibration.has_ranks_for(what)) return;
  // Pairs out of a node end on several nodes, so that the ejection of one node does not limit them.
  const auto pairs = between_nodes ? pairs_out_of_one_node(layout) : calibration.pairs(level);
  auto& rate = between_nodes ? calibration.machine.levels[layout.node_level()].up_rate_bytes_per_s
                             : calibration.channel(level).aggregate_rate_bytes_per_s;
  const int multiple = between_nodes ? layout.nodes() - 1 : 1;
  const auto found = sweep(calibration, pairs, level, multiple, sharing_share.of(level, calibration.levels).end, what);
  rate = found.bytes_per_s;
  if (between_nodes) calibration.rate_in_place_of_injection = found.or_at_other_ends;
}

namespace {

/// The rate of all ranks of rings together.
/// @param expected_s  time of a round beyond α by the rates that are known
/// @return bytes per second; infinity if the known rates explain it
double rate_of_rings(Calibration& calibration, const std::vector<std::vector<Rank>>& rings, Level level, double share,
                     Bytes bytes, Seconds expected_s) {
  const auto time_s = calibration.sampler.sample_one(share, [&](int repetitions) {
    return calibration.bench.rings(rings, bytes, begin_seconds(calibration, level, bytes),
                                   std::max(repetitions_min, repetitions));
  });
  const auto seconds = time_s - calibration.channel(level).protocol(bytes).alpha_s;
  double ranks = 0;
  for (const auto& ring : rings) ranks += static_cast<double>(ring.size());
  return same_rate_ratio * seconds > expected_s ? ranks * static_cast<double>(bytes) / seconds
                                                : std::numeric_limits<double>::infinity();
}

/// Time of the bytes of a large lone message.
Seconds moving_seconds(Calibration& calibration, Level level) {
  const Bytes bytes = large_bytes(calibration, level);
  return static_cast<double>(bytes) * calibration.channel(level).protocol(bytes).beta_s_per_byte;
}

/// Time beyond α of a large message from each rank to another instance of a level outside nodes, by the rates of links,
/// NICs and inner levels.
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
  if (!calibration.has_ranks_for(what)) return;
  const auto rings = rings_within(layout, level);
  const Bytes bytes = large_bytes(calibration, 0);
  Seconds expected = moving_seconds(calibration, 0);
  const auto limit = [&](double ranks, double rate) {
    expected = std::max(expected, ranks * static_cast<double>(bytes) / rate);
  };
  for (const auto& ring : rings) {
    limit(static_cast<double>(ring.size()), calibration.channel(0).aggregate_rate_bytes_per_s);
    for (Level inner = 1; inner < level; ++inner) {
      const auto* const instance_of = layout.instance_of(inner);
      std::size_t ranks = 0;
      for (const auto& other : rings)
        if (instance_of[other.front()] == instance_of[ring.front()]) ranks += other.size();
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
  if (!levels_of_groups(layout).empty())
    return calibration.not_measured(what + ": what groups of nodes share is measured in its place");
  if (!calibration.has_ranks_for(what)) return;
  const auto rings = rings_between_nodes(layout);
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

/// The rate into a node by the rates of its senders' NICs and of the groups' links, until the slowest pair ends.
double rate_into(std::span<const Pair> pairs, const Calibration& calibration) {
  const auto& layout = calibration.layout;
  const auto& levels = calibration.machine.levels;
  std::map<int, int> out_of_node;
  std::map<std::pair<Level, int>, int> out_of_group;
  std::map<Level, int> into_group;
  Seconds slowest = 0;  // for a byte of each pair
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
  if (!calibration.has_ranks_for(what)) return;
  const auto pairs = pairs_into_one_node(layout);
  std::set<int> senders;
  for (const auto& pair : pairs) senders.insert(layout.node(pair.first));
  const auto found = sweep(calibration, pairs, outermost, layout.nodes() - 1, ejection_share.end, what);
  const double rate = found.bytes_per_s;
  if (!std::isfinite(rate)) return;
  if (calibration.rate_in_place_of_injection >= same_rate_ratio * rate) {
    node.up_rate_bytes_per_s = std::numeric_limits<double>::infinity();
    calibration.not_measured(calibration.level_key(layout.node_level(), "up_rate_bytes_per_s") +
                             ": what one node sends is what others take in");
  }
  const auto even_pairs = found.or_at_other_ends ? pairs.size() : pairs.size() / senders.size() * senders.size();
  const double sent = !levels_of_groups(layout).empty() || found.or_at_other_ends
                          ? rate_into(std::span(pairs).first(even_pairs), calibration)
                          : static_cast<double>(senders.size()) * node.up_rate_bytes_per_s;
  if (rate >= same_rate_ratio * sent)
    return calibration.not_measured(fmt::format("{}: a node takes in all that {} others inject", what, senders.size()));
  if (rate >= same_rate_ratio * network.node_share_bytes_per_s * layout.nodes())
    return calibration.not_measured(what + ": a node takes in all that the network moves");
  node.down_rate_bytes_per_s = rate;
  // If all nodes at once receive at their ejection rate, ejection limits them and not the network.
  if (network.node_share_bytes_per_s < same_rate_ratio * rate || !std::isfinite(network.node_share_bytes_per_s)) return;
  network.node_share_bytes_per_s = std::numeric_limits<double>::infinity();
  calibration.not_measured(calibration.level_key(outermost, "node_share_bytes_per_s") +
                           ": all nodes at once send as much as each takes in");
}

void hold_to_physics(Calibration& calibration) {
  auto& machine = calibration.machine;
  const double memory = calibration.layout.max_ppn() * machine.copy_rate_bytes_per_s;
  const auto hold = [&](const std::string& what, double& rate) {
    if (!std::isfinite(rate) || rate <= memory) return;
    rate = std::numeric_limits<double>::infinity();
    calibration.not_measured(what + ": found to be more than the copies of all ranks of a node move");
  };
  for (Level level = 0; level <= calibration.layout.node_level(); ++level) {
    if (auto& channel = machine.host.by_level[level])
      hold(calibration.host_key(level, "aggregate_rate_bytes_per_s"), channel->aggregate_rate_bytes_per_s);
    hold(calibration.level_key(level, "inside_rate_bytes_per_s"), machine.levels[level].inside_rate_bytes_per_s);
  }
}

}  // namespace commpass
