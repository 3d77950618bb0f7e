// bench regret: is the choice the fastest strategy? Runs every candidate on simulated clusters.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "bench/device_cases.hpp"
#include "bench/options.hpp"
#include "bench/skewed_patterns.hpp"
#include "bench/sparse_cases.hpp"
#include "bench/summary.hpp"
#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

constexpr int any_ranks = 1 << 20;

/// A pattern for P ranks.
struct PatternCase {
  const char* name;
  const char* arguments;  ///< of the command line: "{0}" stands for P, "{1}" for the matrices' directory, "{2}" for a
                          ///< grid of P ranks, "{3}" for a file with the pattern
  int most_ranks = any_ranks;            ///< where it is tractable
  int most_quick_ranks = 0;              ///< up to which it is part of --quick
  Pattern (*make)(int ranks) = nullptr;  ///< the contents of the file
};

constexpr PatternCase patterns[] = {
    {"matrix copter2", "--matrix '{1}/copter2.mtx.gz' --ranks {0}", any_ranks, 64},
    {"matrix debian12-deps", "--matrix '{1}/debian12-deps.mtx.gz' --ranks {0}", any_ranks, 64},
    {"random 8 x 64 B", "--generate random:ranks={0},bytes=64,degree=8", any_ranks, 16},
    {"random 12 x 4 KiB", "--generate random:ranks={0},bytes=4KiB,degree=12"},
    {"random 12 x 64 KiB", "--generate random:ranks={0},bytes=64KiB,degree=12", any_ranks, 16},
    {"power-law to 64 KiB", "--generate power-law:ranks={0},bytes=64KiB,exponent=1.5", 64},
    {"stencil box 512 B", "--generate stencil:dims={2},bytes=512,points=box", any_ranks, 64},
    {"ragged to 16 B", "--generate uniform:ranks={0},bytes=16", 128, 16},
    {"ragged to 1 KiB", "--generate uniform:ranks={0},bytes=1KiB", 128, 16},
    {"ragged to 16 KiB", "--generate uniform:ranks={0},bytes=16KiB", 64},
};

/// They are run for numbers of ranks of their own, which are no powers of two: no cut by halves is full there.
constexpr PatternCase skewed_patterns[] = {
    {"hot receiver", "--pattern '{3}'", any_ranks, 60, hot_receiver},
    {"hot sender", "--pattern '{3}'", any_ranks, 60, hot_sender},
    {"power law of partners", "--pattern '{3}'", any_ranks, 60, power_law_of_partners},
    {"3 B to 200 KiB", "--pattern '{3}'", any_ranks, 60, wide_sizes},
    {"hot ranks receive", "--pattern '{3}'", any_ranks, 0, hot_ranks_receive},
    {"hot ranks send", "--pattern '{3}'", any_ranks, 0, hot_ranks_send},
    {"transposes", "--pattern '{3}'", any_ranks, 0, transposes},
    {"adaptive mesh", "--pattern '{3}'", any_ranks, 0, adaptive_mesh},
    {"half to half", "--pattern '{3}'", any_ranks, 0, half_to_half},
};

/// For clusters that lose messages: more partners than a rank may have messages in flight.
constexpr PatternCase crowded_patterns[] = {
    {"all to all 8 B", "--generate alltoall:ranks={0},bytes=8"},
    {"ragged to 4 KiB", "--generate uniform:ranks={0},bytes=4KiB"},
};
constexpr int crowded_ranks = 64;

/// With --quick each pattern is run on every sixth cluster, another one each time.
constexpr std::size_t quick_share = 6;

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

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks;
  const PatternCase& pattern;
};

/// The measurement of a case; all strategies that are priced, unless some are named.
Json measure(const Options& options, const Case& which, const std::string& strategies = {}) {
  const auto& [cluster, profile, ranks, pattern] = which;
  std::string file;
  if (pattern.make) {
    std::string name = pattern.name;
    std::ranges::replace(name, ' ', '-');
    file = fmt::format("{}/{}-{}.mtx", options.simulator.scratch, name, ranks);
    write_pattern(pattern.make(ranks), file);
  }
  const auto arguments =
      fmt::format(fmt::runtime(pattern.arguments), ranks, COMMPASS_EXAMPLE_MATRICES, grid(ranks), file);
  return Json::parse(simulate(
      options.simulator, cluster, ranks, "commpass-measure",
      fmt::format("--profile '{}' --layout {} {} {} --json --verify --baseline --repetitions 1 --progress never",
                  profile, layout_of(cluster, ranks), arguments,
                  strategies.empty() ? "" : fmt::format("--strategies '{}'", strategies))));
}

/// All cuts of few ranks into two and three digits whose product is just their number: does the search miss one?
std::vector<std::string> small_cuts(int ranks) {
  constexpr int few_for_two = 60, few_for_three = 16;
  std::vector<std::string> cuts;
  for (int a = 2; ranks <= few_for_two && a <= ranks / 2; ++a) {
    if (ranks % a != 0) continue;
    cuts.push_back(fmt::format("stfw,dims={}x{}", a, ranks / a));
    for (int b = 2; ranks <= few_for_three && b <= ranks / a / 2; ++b)
      if (ranks / a % b == 0) cuts.push_back(fmt::format("stfw,dims={}x{}x{}", a, b, ranks / a / b));
  }
  return cuts;
}

/// A cut that is faster than all strategies that were run, if any: it was not tried, or else it would be among these.
void compare_with_cuts(const Options& options, const Case& which, Result& result, double& least) {
  const auto cuts = small_cuts(which.ranks);
  if (cuts.empty()) return;
  const auto json = measure(options, which, join(cuts, ";"));
  const auto chosen_s = result.regret * least;
  for (const auto& row : json.at("ranking")) {
    if (const double measured = row.at("measured_s").get<double>(); measured < least) {
      least = measured;
      result.best = row.at("strategy").get<std::string>();
    }
  }
  result.regret = chosen_s / least;
}

Result run_case(const Options& options, const Case& which) {
  const auto& [cluster, profile, ranks, pattern] = which;
  const auto json = measure(options, which);
  Result result;
  result.cluster = cluster.name;
  result.pattern = pattern.name;
  result.ranks = ranks;
  result.chosen = json.at("chosen").get<std::string>();
  result.regret = json.at("regret").get<double>();
  std::vector<double> predicted, measured;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& row : json.at("ranking")) {
    predicted.push_back(row.at("predicted_s").get<double>());
    measured.push_back(row.at("measured_s").get<double>());
    result.errors.push_back(std::abs(predicted.back() / measured.back() - 1));
    if (measured.back() < least) {
      least = measured.back();
      result.best = row.at("strategy").get<std::string>();
    }
  }
  result.chosen_error = predicted[0] / measured[0] - 1;
  result.correlation = rank_correlation(predicted, measured).value_or(1);
  result.speedup = json.at("baseline_s").get<double>() / measured[0];
  compare_with_cuts(options, which, result, least);
  return result;
}

/// An exchange whose receivers do not know its pattern; its plain loop is the better one of PETSc's algorithms.
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
  result.correlation = rank_correlation(sparse.predicted_s, sparse.measured_s).value_or(1);
  for (const auto& row : sparse.ranking)
    if (row.at("strategy") == sparse.chosen)
      result.chosen_error = row.at("predicted_s").get<double>() / row.at("measured_s").get<double>() - 1;
  return result;
}

/// Data on devices; its plain loop sends directly from devices.
Result run_devices(const Options& options, const DeviceCluster& cluster, const DeviceCase& which) {
  const auto device = run_device_case(options.simulator, cluster, which);
  Result result;
  result.cluster = device.cluster;
  result.pattern = "devices " + device.pattern;
  result.ranks = cluster.host.ppn() * device_nodes;
  result.chosen = device.chosen;
  result.best = device.best;
  result.regret = device.regret;
  result.speedup = device.speedup;
  result.errors = device.errors;
  result.chosen_error = device.chosen_error;
  result.correlation = rank_correlation(device.predicted_s, device.measured_s).value_or(1);
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

bool is_wanted(const Options& options, std::string_view pattern) {
  return pattern.find(options.only) != std::string_view::npos;
}

Json regret(const Options& options) {
  const std::vector<int> ranks = options.quick ? std::vector{16, 64} : std::vector{16, 48, 64, 128, 256};
  const std::vector<int> skewed_ranks = options.quick ? std::vector{60} : std::vector{40, 60, 90};
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<22} {:<30} {:<30} {:>6} {:>7} {:>7} {:>6} {:>7}\n", "cluster", "P", "pattern", "chosen",
               "best", "regret", "error", "median", "order", "speedup");
  const auto all = clusters(options.simulator, {".", "beyond", "groups"});
  const auto losing = clusters_of_kind(options.simulator, "receive-queue");
  const auto profiles = calibrate_all(options.simulator, all),
             losing_profiles = calibrate_all(options.simulator, losing);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < losing.size(); ++i)
    for (const auto& pattern : crowded_patterns)
      if (is_wanted(options, pattern.name)) cases.push_back({losing[i], losing_profiles[i], crowded_ranks, pattern});
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t turn = i;
    const auto add = [&](int p, const PatternCase& pattern) {
      if (!is_wanted(options, pattern.name)) return;
      if (p > (options.quick ? pattern.most_quick_ranks : pattern.most_ranks)) return;
      if (!options.quick || turn++ % quick_share == 0) cases.push_back({all[i], profiles[i], p, pattern});
    };
    for (const int p : ranks)
      for (const auto& pattern : patterns) add(p, pattern);
    for (const int p : skewed_ranks)
      for (const auto& pattern : skewed_patterns) add(p, pattern);
  }
  std::vector<SparseCase> sparse;
  for (const auto& which : sparse_cases(all, profiles, options.quick))
    if (is_wanted(options, std::string("sparse ") + which.pattern.name) &&
        (!options.quick || (which.pattern.name == quick_sparse_pattern && which.cluster.name == all.front().name)))
      sparse.push_back(which);
  const auto is_wanted_on_devices = [&](const DeviceCase& which) {
    return (which.quick || !options.quick) && is_wanted(options, std::string("devices ") + which.name);
  };
  std::vector<DeviceCluster> with_devices;
  if (std::ranges::any_of(device_cases, is_wanted_on_devices))
    with_devices = device_clusters(options.simulator, options.quick);
  std::vector<std::pair<const DeviceCluster*, const DeviceCase*>> devices;
  for (const auto& cluster : with_devices)
    for (const auto& which : device_cases)
      if (is_wanted_on_devices(which)) devices.emplace_back(&cluster, &which);
  if (cases.empty() && sparse.empty() && devices.empty())
    throw InputError("--only " + options.only, "no pattern has this in its name",
                     "use a text of one of the names that a run without it prints");
  const auto known = static_cast<std::ptrdiff_t>(cases.size()), end_of_sparse = known + std::ssize(sparse);
  std::vector<Result> results(cases.size() + sparse.size() + devices.size());
  std::map<std::string, std::vector<Result>> by_cluster, by_pattern;
  in_parallel(
      results.size(),
      [&](std::size_t i) {
        const auto after = i - cases.size();
        if (i < cases.size()) results[i] = run_case(options, cases[i]);
        else if (after < sparse.size()) results[i] = run_sparse(options, sparse[after]);
        else
          results[i] =
              run_devices(options, *devices[after - sparse.size()].first, *devices[after - sparse.size()].second);
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
  if (!sparse.empty()) json["sparse"] = summary_of({results.begin() + known, results.begin() + end_of_sparse});
  if (!devices.empty()) json["devices"] = summary_of({results.begin() + end_of_sparse, results.end()});
  json["summary"] = cases.empty() ? Json::object() : summary_of({results.begin(), results.begin() + known});
  for (const auto* part : {"sparse", "devices"})
    for (const auto* name : {"gmean", "worst", "cases"})
      if (json.contains(part)) json["summary"][fmt::format("{}_{}", part, name)] = json[part][name];
  if (options.json) return json;
  print_summaries(json["patterns"]);
  print_summaries(json["clusters"]);
  if (!cases.empty()) print_summaries({{"all, patterns known", json["summary"]}});
  if (json.contains("sparse")) print_summaries({{"all, sparse", json["sparse"]}});
  if (json.contains("devices")) print_summaries({{"all, on devices", json["devices"]}});
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "regret", "Regret of the choice on simulated clusters, against every candidate.",
      commpass::bench::regret);
}
