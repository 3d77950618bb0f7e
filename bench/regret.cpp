// bench regret: is what we choose what is fastest? Runs every candidate on simulated clusters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "bench/options.hpp"
#include "bench/sparse_cases.hpp"
#include "bench/summary.hpp"
#include "model/text.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A pattern for P ranks, as the command line takes it.
struct PatternCase {
  const char* name;
  const char* arguments;  ///< "{0}" stands for P, "{1}" for the matrices' directory, "{2}" for a grid of P ranks
  int most_ranks;         ///< where it is tractable
  bool quick;             ///< part of --quick
};

constexpr int any_ranks = 1 << 20;
constexpr PatternCase patterns[] = {
    {"matrix copter2", "--matrix '{1}/copter2.mtx.gz' --ranks {0}", any_ranks, true},
    {"matrix debian12-deps", "--matrix '{1}/debian12-deps.mtx.gz' --ranks {0}", any_ranks, true},
    {"random 8 x 64 B", "--generate random:ranks={0},bytes=64,degree=8", any_ranks, true},
    {"random 12 x 4 KiB", "--generate random:ranks={0},bytes=4KiB,degree=12", any_ranks, false},
    {"random 12 x 64 KiB", "--generate random:ranks={0},bytes=64KiB,degree=12", any_ranks, true},
    {"power-law to 64 KiB", "--generate power-law:ranks={0},bytes=64KiB,exponent=1.5", 64, false},
    {"stencil box 512 B", "--generate stencil:dims={2},bytes=512,points=box", any_ranks, true},
    {"ragged to 16 B", "--generate uniform:ranks={0},bytes=16", 128, true},
    {"ragged to 1 KiB", "--generate uniform:ranks={0},bytes=1KiB", 128, true},
    {"ragged to 16 KiB", "--generate uniform:ranks={0},bytes=16KiB", 64, false},
};

constexpr std::string_view quick_sparse_pattern =
    "4 x 256 B";  ///< of those of `bench sdde`, each of which takes as long as many of these

/// P as a product of three like numbers.
std::string grid(int ranks) {
  int a = static_cast<int>(std::cbrt(ranks) + 1e-9);
  while (ranks % a != 0) --a;
  int b = static_cast<int>(std::sqrt(ranks / a) + 1e-9);
  while (ranks / a % b != 0) --b;
  return fmt::format("{}x{}x{}", ranks / a / b, b, a);
}

struct Result {
  std::string cluster, pattern, chosen, best;
  int ranks = 0;
  double regret = 1, correlation = 1, speedup = 1;
  double chosen_error = 0;
  std::vector<double> errors;  ///< |predicted / measured − 1| of every candidate
};

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size();) {  // equal values share their mean rank
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) result[order[j]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return result;
}

/// Spearman's.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto x = ranks_of(a), y = ranks_of(b);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 1;
}

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks;
  const PatternCase& pattern;
};

Result run_case(const Options& options, const Case& which) {
  const auto& [cluster, profile, ranks, pattern] = which;
  const auto arguments = fmt::format(fmt::runtime(pattern.arguments), ranks, COMMPASS_EXAMPLE_MATRICES, grid(ranks));
  const auto output =
      simulate(options.simulator, cluster, ranks, "commpass-measure",
               fmt::format("--profile '{}' --layout {} {} --json --verify --baseline --repetitions 1 --progress never",
                           profile, layout_of(cluster, ranks), arguments));
  const auto json = Json::parse(output);
  Result result;
  result.cluster = cluster.name;
  result.pattern = pattern.name;
  result.ranks = ranks;
  result.chosen = json.at("chosen");
  result.regret = json.at("regret");
  std::vector<double> predicted, measured;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& row : json.at("ranking")) {
    predicted.push_back(row.at("predicted_s"));
    measured.push_back(row.at("measured_s"));
    result.errors.push_back(std::abs(predicted.back() / measured.back() - 1));
    if (measured.back() < least) {
      least = measured.back();
      result.best = row.at("strategy");
    }
  }
  result.chosen_error = predicted[0] / measured[0] - 1;
  result.correlation = rank_correlation(predicted, measured);
  result.speedup = json.at("baseline_s").get<double>() / measured[0];
  return result;
}

/// An exchange whose pattern nobody knows; its plain loop is the better one of PETSc's algorithms.
Result run_sparse(const Options& options, const SparseCase& which) {
  const auto sparse = run_sparse_case(options.simulator, which);
  Result result;
  result.cluster = sparse.cluster;
  result.pattern = "sparse " + sparse.pattern;
  result.ranks = sparse.ranks;
  result.chosen = sparse.chosen;
  result.best = sparse.best;
  result.regret = sparse.regret();
  result.speedup = sparse.speedup();
  result.errors = sparse.errors();
  result.correlation = rank_correlation(sparse.predicted_s, sparse.measured_s);
  for (const auto& row : sparse.ranking)
    if (row.at("strategy") == sparse.chosen)
      result.chosen_error = row.at("predicted_s").get<double>() / row.at("measured_s").get<double>() - 1;
  return result;
}

Json summary_of(const std::vector<Result>& results) {
  std::vector<double> regrets, errors, speedups;
  double correlation = 0;
  for (const auto& r : results) {
    regrets.push_back(r.regret);
    speedups.push_back(r.speedup);
    errors.insert(errors.end(), r.errors.begin(), r.errors.end());
    correlation += r.correlation / static_cast<double>(results.size());
  }
  return {{"gmean", geometric_mean(regrets)},
          {"p95", quantile(regrets, 0.95)},
          {"worst", quantile(regrets, 1)},
          {"median_abs_error", quantile(errors, 0.5)},
          {"p95_abs_error", quantile(errors, 0.95)},
          {"rank_correlation", correlation},
          {"speedup_over_plain_loop_gmean", geometric_mean(speedups)},
          {"cases", results.size()}};
}

void print_case(const Result& r) {
  fmt::print("{:<14} {:>4} {:<22} {:<30} {:<30} {:>6.3f} {:>+6.0f}% {:>6.0f}% {:>6.2f} {:>7.2f}\n", r.cluster, r.ranks,
             r.pattern, r.chosen, r.best, r.regret, 100 * r.chosen_error, 100 * quantile(r.errors, 0.5), r.correlation,
             r.speedup);
  std::fflush(stdout);
}

void print_summaries(const Json& summaries) {
  fmt::print("\n{:<22} {:>5} {:>7} {:>7} {:>7} {:>13} {:>11} {:>8}\n", "", "cases", "gmean", "p95", "worst",
             "median error", "p95 error", "order");
  for (const auto& [name, s] : summaries.items())
    fmt::print("{:<22} {:>5} {:>7.3f} {:>7.3f} {:>7.3f} {:>12.1f}% {:>10.1f}% {:>8.3f}\n", name, s["cases"].get<int>(),
               s["gmean"].get<double>(), s["p95"].get<double>(), s["worst"].get<double>(),
               100 * s["median_abs_error"].get<double>(), 100 * s["p95_abs_error"].get<double>(),
               s["rank_correlation"].get<double>());
}

Json regret(const Options& options) {
  const std::vector<int> ranks = options.quick ? std::vector{16, 64} : std::vector{16, 48, 64, 128, 256};
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<22} {:<30} {:<30} {:>6} {:>7} {:>7} {:>6} {:>7}\n", "cluster", "P", "pattern", "chosen",
               "best", "regret", "error", "median", "order", "speedup");
  const auto all = clusters(options.simulator);
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const int p : ranks)
      for (const auto& pattern : patterns)
        if (p <= pattern.most_ranks && (!options.quick || pattern.quick))
          cases.push_back({all[i], profiles[i], p, pattern});
  std::vector<SparseCase> sparse;
  for (const auto& which : sparse_cases(all, profiles, options.quick))
    if (!options.quick || (which.pattern.name == quick_sparse_pattern && which.cluster.name == all.front().name))
      sparse.push_back(which);
  const auto known = static_cast<std::ptrdiff_t>(cases.size());
  std::vector<Result> results(cases.size() + sparse.size());
  std::map<std::string, std::vector<Result>> by_cluster, by_pattern;
  in_parallel(
      results.size(),
      [&](std::size_t i) {
        results[i] = i < cases.size() ? run_case(options, cases[i]) : run_sparse(options, sparse[i - cases.size()]);
      },
      [&](std::size_t i) {
        if (i < cases.size()) by_cluster[results[i].cluster].push_back(results[i]);
        by_pattern[results[i].pattern].push_back(results[i]);
        if (!options.json) print_case(results[i]);
      });
  Json json;
  for (const auto& r : results)
    json["cases"].push_back({{"cluster", r.cluster},
                             {"ranks", r.ranks},
                             {"pattern", r.pattern},
                             {"chosen", r.chosen},
                             {"best", r.best},
                             {"regret", r.regret},
                             {"error", r.chosen_error},
                             {"median_abs_error", quantile(r.errors, 0.5)},
                             {"rank_correlation", r.correlation},
                             {"speedup_over_plain_loop", r.speedup}});
  for (const auto& [name, own] : by_cluster) json["clusters"][name] = summary_of(own);
  for (const auto& [name, own] : by_pattern) json["patterns"][name] = summary_of(own);
  json["sparse"] = summary_of({results.begin() + known, results.end()});
  json["summary"] = summary_of({results.begin(), results.begin() + known});
  for (const auto* name : {"gmean", "worst", "cases"})
    json["summary"][std::string("sparse_") + name] = json["sparse"][name];
  if (options.json) return json;
  print_summaries(json["patterns"]);
  print_summaries(json["clusters"]);
  print_summaries({{"all, patterns known", json["summary"]}, {"all, sparse", json["sparse"]}});
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "regret", "Regret of the choice on simulated clusters, against every candidate.",
      commpass::bench::regret);
}
