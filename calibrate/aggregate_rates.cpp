// The rates that ranks share: of a socket, of a node, into and out of the network.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

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
/// @param multiple  so many pairs begin or end on as many nodes: as many on each, so that none is busier than others
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
  calibration.provenance.sharing.push_back({what, level, bytes, counts, seconds, std::move(intervals)});
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
  calibration.progress(fmt::format("sharing, {}", standard_level::name(level)));
  const bool between_nodes = level == standard_level::network;
  const auto what = between_nodes ? std::string("injection")
                                  : fmt::format("host.{}.aggregate_rate_bytes_per_s", standard_level::name(level));
  // Into several nodes, if there are, so that it is not what one of them takes in.
  const auto pairs = between_nodes ? pairs_out_of_one_node(calibration.layout) : calibration.pairs(level);
  if (pairs.size() < 2) {
    calibration.not_measured(what + ": needs two disjoint pairs of ranks");
    return;
  }
  auto& rate = between_nodes ? calibration.machine.levels[standard_level::node].up_rate_bytes_per_s
                             : calibration.channel(level).aggregate_rate_bytes_per_s;
  const int multiple = between_nodes ? calibration.layout.nodes() - 1 : 1;
  const auto found = sweep(calibration, pairs, level, multiple, sharing_share.of(level, calibration.levels).end, what);
  rate = found.bytes_per_s;
  if (between_nodes) calibration.rate_in_place_of_injection = found.or_at_other_ends;
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

/// Of a large message from each of so many ranks of a node, where no more than their links and its NIC limits.
Seconds sending_seconds(Calibration& calibration, int ranks) {
  return std::max(moving_seconds(calibration, standard_level::network),
                  ranks * static_cast<double>(large_bytes(calibration, standard_level::network)) /
                      calibration.machine.levels[standard_level::node].up_rate_bytes_per_s);
}

}  // namespace

void measure_bus(Calibration& calibration) {
  calibration.progress("bus");
  const auto rings = rings_within_node(calibration.layout);
  const auto has_three = [](const std::vector<Rank>& ring) { return ring.size() > 2; };
  if (rings.size() < 2 && std::ranges::none_of(rings, has_three)) {
    calibration.not_measured("bus: needs three ranks on a node, two of them on a socket");
    return;
  }
  const Bytes bytes = large_bytes(calibration, standard_level::socket);
  const double socket_rate = calibration.channel(standard_level::socket).aggregate_rate_bytes_per_s;
  Seconds expected = moving_seconds(calibration, standard_level::socket);
  for (const auto& ring : rings)
    expected = std::max(expected, static_cast<double>(ring.size()) * static_cast<double>(bytes) / socket_rate);
  auto& rate = calibration.machine.levels[standard_level::node].inside_rate_bytes_per_s;
  rate = rate_of_rings(calibration, rings, standard_level::socket, bus_share.end, bytes, expected);
  if (!std::isfinite(rate)) calibration.not_measured("bus: all ranks of a node at once do not fill it");
}

void measure_core(Calibration& calibration) {
  calibration.progress("core");
  const auto& layout = calibration.layout;
  const auto rings = rings_between_nodes(layout);
  if (rings.empty()) {
    calibration.not_measured("core: needs two nodes");
    return;
  }
  if (layout.groups() > 1) {
    calibration.not_measured("core: what groups of nodes share is measured in its place");
    return;
  }
  auto& rate = calibration.machine.levels[standard_level::network].node_share_bytes_per_s;
  rate = rate_of_rings(calibration, rings, standard_level::network, core_share.end,
                       large_bytes(calibration, standard_level::network),
                       sending_seconds(calibration, static_cast<int>(rings.size()))) /
         layout.nodes();
  if (!std::isfinite(rate)) calibration.not_measured("core: all nodes at once send as much as each alone");
}

void measure_groups(Calibration& calibration) {
  const auto& layout = calibration.layout;
  const auto rings = rings_between_groups(layout);
  if (rings.empty()) return;  // and nothing to tell: without groups prices ask for no such rate
  calibration.progress("groups");
  int largest = 0;
  for (int group = 0; group < layout.groups(); ++group) largest = std::max(largest, layout.ranks_of_group(group));
  const double rate =
      rate_of_rings(calibration, rings, standard_level::network, core_share.end,
                    large_bytes(calibration, standard_level::network), sending_seconds(calibration, layout.max_ppn()));
  calibration.machine.levels[standard_level::group].up_rate_bytes_per_s =
      calibration.machine.levels[standard_level::group].down_rate_bytes_per_s = rate * largest / layout.ranks();
  if (!std::isfinite(rate)) calibration.not_measured("group: all nodes of a group at once send as much as each alone");
}

namespace {

/// What moves to a node if it takes in all that its senders' NICs and the links of groups move, when the slowest ends.
double rate_into(std::span<const Pair> pairs, const Calibration& calibration) {
  const auto& layout = calibration.layout;
  const auto& machine = calibration.machine;
  std::map<int, int> out_of_node, out_of_group;
  int into_group = 0;
  Seconds slowest = 0;  // of a byte of each pair
  for (const auto& [sender, receiver] : pairs) {
    const int node = layout.node(sender);
    slowest = std::max(slowest, ++out_of_node[node] / machine.levels[standard_level::node].up_rate_bytes_per_s);
    if (layout.groups() == 1 || layout.level(sender, receiver) <= standard_level::group) continue;
    const int most = std::max(++out_of_group[layout.group(node)], ++into_group);
    slowest = std::max(slowest, most / machine.levels[standard_level::group].up_rate_bytes_per_s);
  }
  return static_cast<double>(pairs.size()) / slowest;
}

}  // namespace

void measure_ejection(Calibration& calibration) {
  calibration.progress("ejection");
  const auto& layout = calibration.layout;
  const auto pairs = pairs_into_one_node(layout);
  std::set<int> senders;
  for (const auto& pair : pairs) senders.insert(layout.node(pair.first));
  // From a single node no more comes than it injects.
  if (senders.size() < 2) {
    calibration.not_measured("ejection: needs three nodes, and two ranks on the one that receives");
    return;
  }
  const auto found =
      sweep(calibration, pairs, standard_level::network, layout.nodes() - 1, ejection_share.end, "ejection");
  const double rate = found.bytes_per_s;
  if (!std::isfinite(rate)) return;
  auto& injection = calibration.machine.levels[standard_level::node].up_rate_bytes_per_s;
  if (calibration.rate_in_place_of_injection >= nearly * rate) {
    injection = std::numeric_limits<double>::infinity();
    calibration.not_measured("injection: what one node sends is what others take in");
  }
  const auto even_pairs = found.or_at_other_ends ? pairs.size() : pairs.size() / senders.size() * senders.size();
  const double sent = layout.groups() > 1 || found.or_at_other_ends
                          ? rate_into(std::span(pairs).first(even_pairs), calibration)
                          : static_cast<double>(senders.size()) * injection;
  if (rate >= nearly * sent) {
    calibration.not_measured(fmt::format("ejection: a node takes in all that {} others inject", senders.size()));
    return;
  }
  auto& machine = calibration.machine;
  if (rate >= nearly * machine.levels[standard_level::network].node_share_bytes_per_s * layout.nodes()) {
    calibration.not_measured("ejection: a node takes in all that the core moves");
    return;
  }
  machine.levels[standard_level::node].down_rate_bytes_per_s = rate;
  // Where all nodes take in what each of them can, it is not the core that limits them.
  if (machine.levels[standard_level::network].node_share_bytes_per_s < nearly * rate ||
      !std::isfinite(machine.levels[standard_level::network].node_share_bytes_per_s))
    return;
  machine.levels[standard_level::network].node_share_bytes_per_s = std::numeric_limits<double>::infinity();
  calibration.not_measured("core: all nodes at once send as much as each takes in");
}

}  // namespace commpass
