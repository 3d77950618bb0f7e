#include "bench/device_cases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/parallel.hpp"
#include "selector/choose/select.hpp"

namespace commpass::bench {

namespace {

constexpr auto* folder = "devices";

/// The description of the cluster whose messages are those of its devices.
ClusterShape of_devices(const Simulator& simulator, const ClusterShape& host) {
  auto json = Json::parse(read_file(host.file));
  const auto device = json.at("device");
  for (const auto& [key, value] : device.items()) json[key] = value;
  json.erase("devices");  // copies are those of the cluster itself
  auto shape = host;
  shape.name = host.name + "-memory";
  shape.file = fmt::format("{}/{}.json", simulator.scratch, "cluster-" + shape.name);
  json["name"] = shape.name;
  write_file(shape.file, json.dump(1));
  return shape;
}

Layout layout_of_ranks(const ClusterShape& cluster) {
  return Layout::regular(device_nodes, cluster.sockets, cluster.cores);
}

/// Of a pattern of the devices' owners, the one among all ranks: they lie evenly among those of their node.
Pattern among_all(Pattern pattern, int owners, const Layout& layout) {
  const auto place = [&](Rank owner) {
    return layout.ranks_of(owner / owners)[static_cast<std::size_t>(owner % owners * layout.max_ppn() / owners)];
  };
  for (auto& edge : pattern.edges) {
    edge.source = place(edge.source);
    edge.destination = place(edge.destination);
  }
  pattern.ranks = layout.ranks();
  return pattern;
}

Pattern pattern_of(const DeviceCluster& cluster, const DeviceCase& which) {
  const auto layout = layout_of_ranks(cluster.host);
  const int owners = which.only_owners ? *cluster.machine.devices_per_node : layout.max_ppn();
  auto pattern = generate_pattern(fmt::format(fmt::runtime(which.generator), device_nodes * owners));
  return which.only_owners ? among_all(std::move(pattern), owners, layout) : pattern;
}

/// The cheapest of each route on each path, cheapest first, and what users do today.
std::vector<Candidate> of_each_kind(const std::vector<Candidate>& ranking) {
  std::vector<Candidate> result;
  std::set<std::string> kinds;
  for (const auto& candidate : ranking)
    if (kinds.insert(candidate.strategy.route + to_string(candidate.strategy.path)).second ||
        baseline_of(candidate.strategy))
      result.push_back(candidate);
  return result;
}

}  // namespace

void keep_quick(std::vector<ClusterShape>& clusters) {
  std::erase_if(clusters, [](const ClusterShape& shape) { return shape.name != "two-devices"; });
}

std::vector<DeviceCluster> device_clusters(const Simulator& simulator, bool quick) {
  auto hosts = clusters_of_kind(simulator, folder);
  if (quick) keep_quick(hosts);
  std::vector<ClusterShape> devices;
  for (const auto& host : hosts) devices.push_back(of_devices(simulator, host));
  auto own = simulator;
  own.profiles.clear();  // others have calibrated the clusters, not their devices' memory
  const auto of_hosts = calibrate_all(simulator, hosts), of_memory = calibrate_all(own, devices);
  std::vector<DeviceCluster> result;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    DeviceCluster cluster{hosts[i], devices[i], read_profile(of_hosts[i]).machine, of_hosts[i]};
    cluster.machine.device = read_profile(of_memory[i]).machine.host;
    result.push_back(std::move(cluster));
  }
  return result;
}

DeviceResult run_device_case(const Simulator& simulator, const DeviceCluster& cluster, const DeviceCase& which) {
  const auto layout = layout_of_ranks(cluster.host);
  const auto pattern = pattern_of(cluster, which);
  const auto ranking = rank_strategies(pattern, layout, cluster.machine, CostModel::burst, {}, {}, RankingDepth::all,
                                       offered_paths(DataPlace::device, layout, cluster.machine));
  const auto run = of_each_kind(ranking);
  auto file = fmt::format("{}/{}-{}.mtx", simulator.scratch, cluster.host.name, which.name);
  std::ranges::replace(file, ' ', '-');
  std::ranges::replace(file, ':', '-');
  write_pattern(pattern, file);
  Json measured;
  for (const auto kind : {DataPath::Kind::device, DataPath::Kind::staged}) {
    std::vector<std::string> names;
    for (const auto& candidate : run)
      if (candidate.strategy.path.kind == kind) names.push_back(to_string(candidate.strategy));
    const auto& shape = kind == DataPath::Kind::device ? cluster.device : cluster.host;
    measured.update(
        Json::parse(simulate(simulator, shape, layout.ranks(), "commpass-device-exchange",
                             fmt::format("--pattern '{}' --layout {} --profile '{}' --strategies '{}'", file,
                                         layout_of(shape, layout.ranks()), cluster.profile, join(names, ";")))));
  }
  DeviceResult result;
  result.cluster = cluster.host.name;
  result.pattern = which.name;
  result.chosen = to_string(ranking.front().strategy);
  double least = std::numeric_limits<double>::infinity();
  for (const auto& candidate : run) {
    const auto name = to_string(candidate.strategy);
    const double seconds = measured.at(name).get<double>();
    result.predicted_s.push_back(candidate.cost.seconds);
    result.measured_s.push_back(seconds);
    result.errors.push_back(std::abs(candidate.cost.seconds / seconds - 1));
    if (seconds < least) {
      least = seconds;
      result.best = name;
    }
  }
  const double chosen = measured.at(result.chosen).get<double>();
  result.regret = chosen / least;
  result.speedup = measured.at(to_string(users_way(ranking, DataPlace::device)->strategy)).get<double>() / chosen;
  result.chosen_error = ranking.front().cost.seconds / chosen - 1;
  return result;
}

}  // namespace commpass::bench
