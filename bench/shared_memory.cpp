// bench shared-memory: what do messages through memory of a node gain on simulated clusters whose ranks share some?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/options.hpp"
#include "bench/summary.hpp"
#include "model/base/json.hpp"
#include "model/route/strategy.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

/// For P ranks: "{0}". Sparse ones, and an all-to-all, of short messages.
struct ShortPattern {
  const char* name;
  const char* generator;
};
constexpr ShortPattern short_patterns[] = {
    {"random 4 x 8 B", "random:ranks={0},degree=4,bytes=8"},
    {"random 8 x 64 B", "random:ranks={0},degree=8,bytes=64"},
    {"random 6 x 512 B", "random:ranks={0},degree=6,bytes=512"},
    {"power law to 512 B", "power-law:ranks={0},bytes=512"},
    {"stencil box 64 B", "stencil:dims=4x2x{1},points=box,bytes=64"},
    {"all to all 8 B", "alltoall:ranks={0},bytes=8"},
};

struct SharedCase {
  const ClusterShape& cluster;
  const std::string& profile;
  int nodes;
  const ShortPattern& pattern;
};

struct SharedResult {
  std::string chosen, best, best_by_messages;
  double regret = 1, shared_s = std::numeric_limits<double>::infinity(), by_messages_s = shared_s, chosen_error = 0;
  std::vector<double> errors;

  double gain() const { return by_messages_s / shared_s; }
};

SharedResult run_case(const Options& options, const SharedCase& of) {
  constexpr int across = 8;  // of the stencil
  const int ranks = of.nodes * of.cluster.ppn();
  const auto json = Json::parse(
      simulate(options.simulator, of.cluster, ranks, "commpass-measure",
               fmt::format("--profile '{}' --layout {} --generate {} --json --verify --repetitions 1 --progress never",
                           of.profile, layout_of(of.cluster, ranks),
                           fmt::format(fmt::runtime(of.pattern.generator), ranks, ranks / across))));
  SharedResult result;
  result.chosen = json.at("chosen").get<std::string>();
  result.regret = json.at("regret").get<double>();
  for (const auto& row : json.at("ranking")) {
    const auto name = row.at("strategy").get<std::string>();
    const double measured = row.at("measured_s").get<double>();
    const bool is_shared = parse_strategy(name).path.is_shared;
    if (auto& least = is_shared ? result.shared_s : result.by_messages_s; measured < least) {
      least = measured;
      (is_shared ? result.best : result.best_by_messages) = name;
    }
    if (!row.at("predicted_s").is_number()) continue;
    result.errors.push_back(row.at("predicted_s").get<double>() / measured - 1);
    if (name == result.chosen) result.chosen_error = result.errors.back();
  }
  for (auto& error : result.errors) error = std::abs(error);
  return result;
}

Json shared_memory(const Options& options) {
  const auto all = clusters_of_kind(options.simulator, "node-memory");
  require_some(options.simulator, all);
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<SharedCase> cases;
  for (std::size_t c = 0; c < all.size(); ++c)
    for (const int nodes : {1, 2})
      for (const auto& pattern : short_patterns) cases.push_back({all[c], profiles[c], nodes, pattern});
  if (!options.json)
    fmt::print("{:<14} {:>5} {:>4} {:<20} {:<34} {:<34} {:<30} {:>6} {:>6} {:>7}\n", "cluster", "nodes", "ppn",
               "pattern", "chosen", "best, shared", "best by messages", "gain", "regret", "error");
  std::vector<SharedResult> results(cases.size());
  Json json;
  std::vector<double> gains, regrets, errors;
  in_parallel(
      cases.size(), [&](std::size_t i) { results[i] = run_case(options, cases[i]); },
      [&](std::size_t i) {
        const auto& [cluster, profile, nodes, pattern] = cases[i];
        const auto& r = results[i];
        if (nodes == 1) gains.push_back(r.gain());
        regrets.push_back(r.regret);
        errors.insert(errors.end(), r.errors.begin(), r.errors.end());
        json["cases"].push_back({{"cluster", cluster.name},
                                 {"nodes", nodes},
                                 {"pattern", pattern.name},
                                 {"chosen", r.chosen},
                                 {"best_shared", r.best},
                                 {"best_by_messages", r.best_by_messages},
                                 {"gain", r.gain()},
                                 {"regret", r.regret},
                                 {"error", r.chosen_error}});
        if (options.json) return;
        fmt::print("{:<14} {:>5} {:>4} {:<20} {:<34} {:<34} {:<30} {:>6.2f} {:>6.3f} {:>6.1f}%\n", cluster.name, nodes,
                   cluster.ppn(), pattern.name, r.chosen, r.best, r.best_by_messages, r.gain(), r.regret,
                   1e2 * r.chosen_error);
      });
  json["summary"] = {{"on_a_node_vs_messages_median", 1 / quantile(gains, 0.5)},  // NOLINT: the median
                     {"on_a_node_vs_messages_worst", 1 / std::ranges::min(gains)},
                     {"regret_gmean", geometric_mean(regrets)},
                     {"regret_worst", quantile(regrets, 1)},
                     {"median_abs_error", quantile(errors, 0.5)},  // NOLINT: the median
                     {"p95_abs_error", quantile(errors, 0.95)},
                     {"cases", cases.size()}};
  if (!options.json) fmt::print("\n{}\n", json["summary"].dump());
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(argc, argv, "shared-memory",
                                                  "Times messages through memory of a node on simulated clusters.",
                                                  commpass::bench::shared_memory);
}
