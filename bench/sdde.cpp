// bench sdde: sparse dynamic data exchanges on simulated clusters: what we choose against every strategy, and against what
// applications write by hand.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/options.hpp"
#include "bench/summary.hpp"
#include "model/pattern.hpp"
#include "selector/parallel.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Who sends to whom.
struct PatternCase {
  const char* name;
  int degree;       ///< messages of a rank to ranks drawn at random, or
  int nodes;        ///< to all ranks of the next nodes, if not 0
  const char* sizes;
  Bytes bytes;      ///< of each message
  bool quick;       ///< part of --quick
};

constexpr int all_others = std::numeric_limits<int>::max();
constexpr PatternCase patterns[] = {
    {"1 x 8 B", 1, 0, "constant", 8, true},
    {"4 x 8 B", 4, 0, "constant", 8, true},
    {"16 x 8 B", 16, 0, "constant", 8, true},
    {"64 x 8 B", 64, 0, "constant", 8, false},
    {"all x 8 B", all_others, 0, "constant", 8, false},
    {"1 node x 8 B", 0, 1, "constant", 8, false},
    {"2 nodes x 8 B", 0, 2, "constant", 8, true},
    {"1 x 256 B", 1, 0, "variable", 256, false},
    {"4 x 256 B", 4, 0, "variable", 256, true},
    {"16 x 256 B", 16, 0, "variable", 256, false},
    {"16 x 4 KiB", 16, 0, "variable", 4096, true},
    {"64 x 256 B", 64, 0, "variable", 256, false},
    {"2 nodes x 256 B", 0, 2, "variable", 256, true},
};

/// @return false where the cluster has too few ranks or nodes for the pattern to be what its name says
bool fits(const PatternCase& which, const ClusterShape& cluster, int ranks) {
  if (which.nodes > 0) return which.nodes < ranks / cluster.ppn();
  return which.degree == all_others || which.degree < ranks - 1;
}

std::string arguments_of(const PatternCase& which, const ClusterShape& cluster, int ranks, const std::string& file) {
  if (which.nodes == 0) return fmt::format("--generate random:ranks={},bytes={},degree={}", ranks, which.bytes, std::min(which.degree, ranks - 1));
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (int i = 0; i < which.nodes * cluster.ppn(); ++i)
      pattern.edges.push_back({source, ((source / cluster.ppn() + 1) * cluster.ppn() + i) % ranks, which.bytes});
  write_pattern(pattern, file);
  return fmt::format("--pattern '{}'", file);
}

struct Result {
  std::string cluster, pattern, chosen, best, best_baseline;
  int ranks = 0;
  double chosen_s = 0, best_s = 0, baseline_s = 0;
  double two_step = 1;         ///< time of the best two-step exchange ÷ that of the best direct one
  std::vector<double> errors;  ///< |predicted / measured − 1| of every strategy
  Json ranking;

  double regret() const { return chosen_s / best_s; }
  double speedup() const { return baseline_s / chosen_s; }
};

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks;
  const PatternCase& pattern;
};

Result run_case(const Options& options, const Case& which) {
  const auto& [cluster, profile, ranks, pattern] = which;
  const auto file = fmt::format("{}/{}-{}-{}-nodes-{}.mtx", options.simulator.scratch, cluster.name, ranks, pattern.nodes, pattern.bytes);
  const auto output = simulate(options.simulator, cluster, ranks, "commpass-measure",
                               fmt::format("--profile '{}' --layout {} {} --sparse {} --json --repetitions 1 --progress never", profile, layout_of(cluster, ranks), arguments_of(pattern, cluster, ranks, file), pattern.sizes));
  const auto json = Json::parse(output);
  constexpr double none = std::numeric_limits<double>::infinity();
  Result result{.cluster = cluster.name, .pattern = pattern.name, .chosen = json.at("chosen"), .best = {}, .best_baseline = {}, .ranks = ranks, .chosen_s = json.at("chosen_s"), .best_s = none, .baseline_s = none, .errors = {}, .ranking = json.at("ranking")};
  std::map<std::string, double> by_kind{{"direct", none}, {"two-step", none}};
  for (const auto& row : json.at("ranking")) {
    const std::string name = row.at("strategy");
    const double measured = row.at("measured_s");
    result.errors.push_back(std::abs(row.at("predicted_s").get<double>() / measured - 1));
    auto& least = by_kind[name.substr(0, name.find_first_of(",+"))];
    least = std::min(least, measured);
    if (measured >= result.best_s) continue;
    result.best_s = measured;
    result.best = name;
  }
  result.two_step = by_kind["two-step"] / by_kind["direct"];
  for (const auto& row : json.at("baselines")) {
    if (row.at("measured_s").get<double>() >= result.baseline_s) continue;
    result.baseline_s = row.at("measured_s");
    result.best_baseline = row.at("name");
  }
  return result;
}

Json summary_of(const std::vector<Result>& results) {
  std::vector<double> regrets, speedups, worst, errors;
  for (const auto& r : results) {
    regrets.push_back(r.regret());
    speedups.push_back(r.speedup());
    worst.push_back(r.chosen_s / std::min(r.best_s, r.baseline_s));
    errors.insert(errors.end(), r.errors.begin(), r.errors.end());
  }
  return {{"speedup_over_mpi_gmean", geometric_mean(speedups)},
          {"slowdown_over_mpi_worst", 1 / quantile(speedups, 1 / static_cast<double>(speedups.size()))},
          {"worst_vs_best_known", quantile(worst, 1)},
          {"regret_gmean", geometric_mean(regrets)},
          {"median_abs_error", quantile(errors, 0.5)},
          {"cases", results.size()}};
}

void print_summary(const std::string& name, const Json& s) {
  fmt::print("{:<16} {:>5} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.3f} {:>7.1f}%\n", name, s["cases"].get<int>(), s["speedup_over_mpi_gmean"].get<double>(), s["slowdown_over_mpi_worst"].get<double>(),
             s["worst_vs_best_known"].get<double>(), s["regret_gmean"].get<double>(), 100 * s["median_abs_error"].get<double>());
}

Json sdde(const Options& options) {
  const std::vector<int> ranks = options.quick ? std::vector{48} : std::vector{64, 256};
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<16} {:<26} {:>9} {:<26} {:>6} {:<10} {:>7} {:>15}\n", "cluster", "P", "pattern", "chosen", "us", "best", "regret", "by hand", "speedup", "two-step/direct");
  const auto all = clusters(options.simulator);
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const int p : ranks)
      for (const auto& pattern : patterns)
        if (fits(pattern, all[i], p) && (!options.quick || pattern.quick)) cases.push_back({all[i], profiles[i], p, pattern});
  std::vector<Result> results(cases.size());
  std::map<std::string, std::vector<Result>> by_cluster, by_pattern;
  in_parallel(
      cases.size(), [&](std::size_t i) { results[i] = run_case(options, cases[i]); },
      [&](std::size_t i) {
        const auto& r = results[i];
        by_cluster[r.cluster].push_back(r);
        by_pattern[r.pattern].push_back(r);
        if (options.json) return;
        fmt::print("{:<14} {:>4} {:<16} {:<26} {:>9.2f} {:<26} {:>6.3f} {:<10} {:>7.2f} {:>15.2f}\n", r.cluster, r.ranks, r.pattern, r.chosen, 1e6 * r.chosen_s, r.best, r.regret(), r.best_baseline, r.speedup(), r.two_step);
        std::fflush(stdout);
      });
  Json json;
  for (const auto& r : results)
    json["cases"].push_back({{"cluster", r.cluster}, {"ranks", r.ranks}, {"pattern", r.pattern}, {"chosen", r.chosen}, {"chosen_s", r.chosen_s}, {"best", r.best}, {"best_s", r.best_s}, {"baseline", r.best_baseline}, {"baseline_s", r.baseline_s}, {"two_step_over_direct", r.two_step}, {"ranking", r.ranking}});
  json["summary"] = summary_of(results);
  if (options.json) return json;
  fmt::print("\n{:<16} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "", "cases", "speedup", "slowdown", "worst", "regret", "error");
  for (const auto& [name, own] : by_pattern) print_summary(name, summary_of(own));
  for (const auto& [name, own] : by_cluster) print_summary(name, summary_of(own));
  print_summary("all", json["summary"]);
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(argc, argv, "sdde", "Sparse dynamic data exchanges on simulated clusters, against every strategy and what applications write by hand.", commpass::bench::sdde);
}
