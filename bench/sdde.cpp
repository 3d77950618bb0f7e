// bench sdde: sparse dynamic data exchanges on simulated clusters: what we choose against every strategy, and against
// what applications write by hand.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "bench/options.hpp"
#include "bench/sparse_cases.hpp"
#include "bench/summary.hpp"
#include "model/base/json.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

Json summary_of(const std::vector<SparseResult>& results) {
  std::vector<double> regrets, speedups, worst, errors;
  for (const auto& r : results) {
    regrets.push_back(r.regret());
    speedups.push_back(r.speedup());
    worst.push_back(r.chosen_s / std::min(r.best_s, r.baseline_s));
    const auto own = r.errors();
    errors.insert(errors.end(), own.begin(), own.end());
  }
  return {{"speedup_over_mpi_gmean", geometric_mean(speedups)},
          {"slowdown_over_mpi_worst", 1 / quantile(speedups, 1 / static_cast<double>(speedups.size()))},
          {"worst_vs_best_known", quantile(worst, 1)},
          {"regret_gmean", geometric_mean(regrets)},
          {"median_abs_error", quantile(errors, 0.5)},
          {"cases", results.size()}};
}

void print_summary(const std::string& name, const Json& s) {
  fmt::print("{:<16} {:>5} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.3f} {:>7.1f}%\n", name, s["cases"].get<int>(),
             s["speedup_over_mpi_gmean"].get<double>(), s["slowdown_over_mpi_worst"].get<double>(),
             s["worst_vs_best_known"].get<double>(), s["regret_gmean"].get<double>(),
             100 * s["median_abs_error"].get<double>());
}

Json sdde(const Options& options) {
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<16} {:<26} {:>9} {:<26} {:>6} {:<10} {:>7} {:>15}\n", "cluster", "P", "pattern",
               "chosen", "us", "best", "regret", "by hand", "speedup", "two-step/direct");
  const auto all = clusters(options.simulator);
  const auto profiles = calibrate_all(options.simulator, all);
  const auto cases = sparse_cases(all, profiles, options.quick);
  std::vector<SparseResult> results(cases.size());
  std::map<std::string, std::vector<SparseResult>> by_cluster, by_pattern;
  in_parallel(
      cases.size(), [&](std::size_t i) { results[i] = run_sparse_case(options.simulator, cases[i]); },
      [&](std::size_t i) {
        const auto& r = results[i];
        by_cluster[r.cluster].push_back(r);
        by_pattern[r.pattern].push_back(r);
        if (options.json) return;
        fmt::print("{:<14} {:>4} {:<16} {:<26} {:>9.2f} {:<26} {:>6.3f} {:<10} {:>7.2f} {:>15.2f}\n", r.cluster,
                   r.ranks, r.pattern, r.chosen, 1e6 * r.chosen_s, r.best, r.regret(), r.best_baseline, r.speedup(),
                   r.two_step);
        std::fflush(stdout);
      });
  Json json;
  for (const auto& r : results)
    json["cases"].push_back({{"cluster", r.cluster},
                             {"ranks", r.ranks},
                             {"pattern", r.pattern},
                             {"chosen", r.chosen},
                             {"chosen_s", r.chosen_s},
                             {"best", r.best},
                             {"best_s", r.best_s},
                             {"baseline", r.best_baseline},
                             {"baseline_s", r.baseline_s},
                             {"two_step_over_direct", r.two_step},
                             {"ranking", r.ranking}});
  json["summary"] = summary_of(results);
  if (options.json) return json;
  fmt::print("\n{:<16} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "", "cases", "speedup", "slowdown", "worst", "regret",
             "error");
  for (const auto& [name, own] : by_pattern) print_summary(name, summary_of(own));
  for (const auto& [name, own] : by_cluster) print_summary(name, summary_of(own));
  print_summary("all", json["summary"]);
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(argc, argv, "sdde",
                                                  "Sparse dynamic data exchanges on simulated clusters, against every "
                                                  "strategy and what applications write by hand.",
                                                  commpass::bench::sdde);
}
