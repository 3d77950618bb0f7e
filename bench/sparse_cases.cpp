#include "bench/sparse_cases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "model/pattern/pattern.hpp"

namespace commpass::bench {

namespace {

constexpr int all_others = std::numeric_limits<int>::max();
constexpr SparsePattern sparse_patterns[] = {
    {"1 x 8 B", 1, 0, "constant", 8, false},
    {"4 x 8 B", 4, 0, "constant", 8, true},
    {"16 x 8 B", 16, 0, "constant", 8, true},
    {"64 x 8 B", 64, 0, "constant", 8, false},
    {"all x 8 B", all_others, 0, "constant", 8, false},
    {"1 node x 8 B", 0, 1, "constant", 8, false},
    {"2 nodes x 8 B", 0, 2, "constant", 8, false},
    {"1 x 256 B", 1, 0, "variable", 256, false},
    {"4 x 256 B", 4, 0, "variable", 256, true},
    {"16 x 256 B", 16, 0, "variable", 256, false},
    {"16 x 4 KiB", 16, 0, "variable", 4096, false},
    {"64 x 256 B", 64, 0, "variable", 256, false},
    {"2 nodes x 256 B", 0, 2, "variable", 256, true},
};

/// @return false where the cluster has too few ranks or nodes for the pattern to be what its name says
bool fits(const SparsePattern& which, const ClusterShape& cluster, int ranks) {
  if (which.nodes > 0) return which.nodes < ranks / cluster.ppn();
  return which.degree == all_others || which.degree < ranks - 1;
}

std::string arguments_of(const SparsePattern& which, const ClusterShape& cluster, int ranks, const std::string& file) {
  if (which.nodes == 0)
    return fmt::format("--generate random:ranks={},bytes={},degree={}", ranks, which.bytes,
                       std::min(which.degree, ranks - 1));
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (int i = 0; i < which.nodes * cluster.ppn(); ++i)
      pattern.edges.push_back({source, ((source / cluster.ppn() + 1) * cluster.ppn() + i) % ranks, which.bytes});
  write_pattern(pattern, file);
  return fmt::format("--pattern '{}'", file);
}

}  // namespace

std::vector<double> SparseResult::errors() const {
  std::vector<double> result(predicted_s.size());
  std::ranges::transform(predicted_s, measured_s, result.begin(),
                         [](double predicted, double measured) { return std::abs(predicted / measured - 1); });
  return result;
}

std::vector<SparseCase> sparse_cases(const std::vector<ClusterShape>& clusters,
                                     const std::vector<std::string>& profiles, bool quick) {
  std::vector<SparseCase> cases;
  for (std::size_t i = 0; i < clusters.size(); ++i)
    for (const int ranks : quick ? std::vector{48} : std::vector{64, 256})
      for (const auto& pattern : sparse_patterns)
        if (fits(pattern, clusters[i], ranks) && (!quick || pattern.quick))
          cases.push_back({clusters[i], profiles[i], ranks, pattern});
  return cases;
}

SparseResult run_sparse_case(const Simulator& simulator, const SparseCase& which) {
  const auto& [cluster, profile, ranks, pattern] = which;
  const auto file =
      fmt::format("{}/{}-{}-{}-nodes-{}.mtx", simulator.scratch, cluster.name, ranks, pattern.nodes, pattern.bytes);
  const auto output =
      simulate(simulator, cluster, ranks, "commpass-measure",
               fmt::format("--profile '{}' --layout {} {} --sparse {} --json --repetitions 1 --progress never", profile,
                           layout_of(cluster, ranks), arguments_of(pattern, cluster, ranks, file), pattern.sizes));
  const auto json = Json::parse(output);
  constexpr double none = std::numeric_limits<double>::infinity();
  SparseResult result;
  result.cluster = cluster.name;
  result.pattern = pattern.name;
  result.ranks = ranks;
  result.chosen = json.at("chosen").get<std::string>();
  result.chosen_s = json.at("chosen_s").get<double>();
  result.best_s = result.baseline_s = none;
  result.ranking = json.at("ranking");
  std::map<std::string, double> by_kind{{"direct", none}, {"two-step", none}};
  for (const auto& row : result.ranking) {
    const std::string name = row.at("strategy").get<std::string>();
    const double measured = row.at("measured_s").get<double>();
    result.predicted_s.push_back(row.at("predicted_s").get<double>());
    result.measured_s.push_back(measured);
    auto& least = by_kind[name.substr(0, name.find_first_of(",+"))];
    least = std::min(least, measured);
    if (measured >= result.best_s) continue;
    result.best_s = measured;
    result.best = name;
  }
  result.two_step = by_kind["two-step"] / by_kind["direct"];
  for (const auto& row : json.at("baselines")) {
    if (row.at("measured_s").get<double>() >= result.baseline_s) continue;
    result.baseline_s = row.at("measured_s").get<double>();
    result.best_baseline = row.at("name").get<std::string>();
  }
  return result;
}

}  // namespace commpass::bench
