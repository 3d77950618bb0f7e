// bench alltoallv: all-to-alls that are called once, on simulated clusters: what we choose against MPI_Alltoallv, the
// scattered exchange with its best window and tuna with its best radix; and some, of equal blocks, too, against what
// they took before.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "bench/options.hpp"
#include "bench/summary.hpp"
#include "model/base/json.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

struct Sizes {
  const char* name;
  const char* generator;  ///< behind the ranks
  int quick_ranks;        ///< up to which it is part of --quick
  enum class Kind { dense, large, sparse };
  Kind kind = Kind::dense;  ///< large blocks, for which the least radices are out of the question; few pairs of ranks
                            ///< with blocks
};

constexpr Sizes all_sizes[] = {
    {"uniform to 16", "alltoallv:ranks={},bytes=16,sizes=uniform", 64},
    {"uniform to 256", "alltoallv:ranks={},bytes=256,sizes=uniform", 64},
    {"uniform to 2KiB", "alltoallv:ranks={},bytes=2KiB,sizes=uniform", 0},
    {"uniform to 16KiB", "alltoallv:ranks={},bytes=16KiB,sizes=uniform", 0, Sizes::Kind::large},
    {"normal to 16", "alltoallv:ranks={},bytes=16,sizes=normal", 0},
    {"normal to 2KiB", "alltoallv:ranks={},bytes=2KiB,sizes=normal", 0},
    {"normal to 16KiB", "alltoallv:ranks={},bytes=16KiB,sizes=normal", 0, Sizes::Kind::large},
    {"power-law to 16", "alltoallv:ranks={},bytes=16,sizes=power-law", 0},
    {"power-law to 2KiB", "alltoallv:ranks={},bytes=2KiB,sizes=power-law", 64},
    {"power-law to 16KiB", "alltoallv:ranks={},bytes=16KiB,sizes=power-law", 0},
    // Most blocks are empty.
    {"64 B to 4 ranks", "random:ranks={},bytes=64,degree=4", 128, Sizes::Kind::sparse},
    {"4KiB to 4 ranks", "random:ranks={},bytes=4KiB,degree=4", 0, Sizes::Kind::sparse},
    {"64 B to 16 ranks", "random:ranks={},bytes=64,degree=16", 0, Sizes::Kind::sparse},
};

/// What the choice took at revision cf28408 in the same simulator, with a profile that it had calibrated there. It sent
/// sizes ahead, of equal blocks, too, and copied what it forwarded three times a hop.
struct Recorded {
  const char* name;
  const char* cluster;
  int ranks;
  const char* generator;
  bool is_alltoall;  ///< by alltoall, whose equal sizes all ranks know
  double before_s;
};

constexpr Recorded all_recorded[] = {
    {"alltoall_8_lassen_like", "lassen-like", 64, "alltoall:ranks=64,bytes=8", true, 13.41e-6},
    {"alltoall_8_many_core", "many-core", 64, "alltoall:ranks=64,bytes=8", true, 8.65e-6},
    {"alltoall_8_latency_bound", "latency-bound", 64, "alltoall:ranks=64,bytes=8", true, 52.94e-6},
    {"alltoall_512_lassen_like", "lassen-like", 64, "alltoall:ranks=64,bytes=512", true, 37.63e-6},
    {"alltoall_512_many_core", "many-core", 64, "alltoall:ranks=64,bytes=512", true, 26.83e-6},
    {"alltoall_512_latency_bound", "latency-bound", 64, "alltoall:ranks=64,bytes=512", true, 107.30e-6},
    {"alltoallv_16_lassen_like", "lassen-like", 128, "alltoallv:ranks=128,bytes=16,sizes=uniform", false, 23.32e-6},
};

/// All-to-alls of equal blocks are held against these strategies, too. 4 KiB is the last size of a protocol.
constexpr Bytes equal_bytes[] = {64, 4096};
constexpr int equal_ranks = 64;
constexpr const char* equal_strategies = "standard;two-step;stfw,dims=4x16;stfw,dims=8x8";

/// Many large blocks take the simulator a quarter of an hour, and with few ranks already all ways are as fast as the
/// bytes are.
int most_ranks_of(const Sizes& sizes) { return sizes.kind == Sizes::Kind::large ? 128 : 256; }

/// What the choice is compared with: scattered exchanges of several windows, and tuna of several radices, as the paper
/// runs it. (With a radix of P it is the pairwise exchange, standard with the window 1.)
std::string strategies_for(int ranks, const Sizes& sizes) {
  std::string text = "standard";
  for (const int window : {1, 8, 32}) text += fmt::format(";standard,window={}", window);
  const int middle = static_cast<int>(std::lround(std::sqrt(ranks)));
  for (const int radix : std::set{2, 4, 8, middle, 32})
    if (sizes.kind != Sizes::Kind::large || radix >= middle) text += fmt::format(";tuna,radix={}", radix);
  return text;
}

struct Result {
  std::string cluster, sizes, chosen;
  int ranks = 0;
  bool is_sparse = false;
  double chosen_s = 0, mpi_s = 0;
  std::string best_scattered, best_tuna;
  double scattered_s = std::numeric_limits<double>::infinity(), tuna_s = scattered_s;

  double speedup() const { return mpi_s / chosen_s; }
  double versus_best_known() const { return chosen_s / std::min({mpi_s, scattered_s, tuna_s}); }
};

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks;
  const Sizes& sizes;
};

void keep_faster(const Json& row, std::string& name, double& seconds) {
  const double measured = row.at("measured_s").get<double>();
  if (measured >= seconds) return;
  seconds = measured;
  name = row.at("strategy").get<std::string>();
}

Json measure(const Options& options, const ClusterShape& cluster, const std::string& profile, int ranks,
             const std::string& generator, const std::string& strategies, bool is_alltoall = false) {
  return Json::parse(simulate(
      options.simulator, cluster, ranks, "commpass-measure",
      fmt::format("--profile '{}' --layout {} --generate {} --one-shot{} --strategies '{}' --json --repetitions 1 "
                  "--progress never",
                  profile, layout_of(cluster, ranks), generator, is_alltoall ? " --alltoall" : "", strategies)));
}

Result run_case(const Options& options, const Case& which) {
  const auto& [cluster, profile, ranks, sizes] = which;
  const auto json = measure(options, cluster, profile, ranks, fmt::format(fmt::runtime(sizes.generator), ranks),
                            strategies_for(ranks, sizes));
  Result result;
  result.cluster = cluster.name;
  result.sizes = sizes.name;
  result.is_sparse = sizes.kind == Sizes::Kind::sparse;
  result.ranks = ranks;
  result.chosen = json.at("chosen").get<std::string>();
  result.chosen_s = json.at("chosen_s").get<double>();
  result.mpi_s = json.at("baselines").at(0).at("measured_s").get<double>();
  for (const auto& row : json.at("ranking")) {
    const bool is_tuna = row.at("strategy").get<std::string>().starts_with("tuna");
    keep_faster(row, is_tuna ? result.best_tuna : result.best_scattered, is_tuna ? result.tuna_s : result.scattered_s);
  }
  return result;
}

Json summary_of(const std::vector<Result>& results) {
  std::vector<double> over_mpi, over_scattered, over_tuna, worst;
  for (const auto& r : results) {
    over_mpi.push_back(r.speedup());
    over_scattered.push_back(r.scattered_s / r.chosen_s);
    over_tuna.push_back(r.tuna_s / r.chosen_s);
    worst.push_back(r.versus_best_known());
  }
  return {{"speedup_over_mpi_gmean", geometric_mean(over_mpi)},
          {"slowdown_over_mpi_worst", 1 / *std::ranges::min_element(over_mpi)},
          {"speedup_over_scattered_gmean", geometric_mean(over_scattered)},
          {"speedup_over_tuna_gmean", geometric_mean(over_tuna)},
          {"worst_vs_best_known", quantile(worst, 1)},
          {"cases", results.size()}};
}

/// Summary of the all-to-alls in which every pair of ranks has a block, and, under other names, of the others.
Json summary_of_all(const std::vector<Result>& results) {
  std::vector<Result> dense, sparse;
  for (const auto& r : results) (r.is_sparse ? sparse : dense).push_back(r);
  auto summary = summary_of(dense);
  const auto of_sparse = summary_of(sparse);
  for (const auto& [name, value] : of_sparse.items()) summary["sparse_" + name] = value;
  return summary;
}

void print_case(const Result& r) {
  fmt::print("{:<14} {:>4} {:<18} {:<30} {:>9.1f} {:>9.1f} {:>7.2f} {:<20} {:>9.1f} {:<16} {:>9.1f} {:>6.3f}\n",
             r.cluster, r.ranks, r.sizes, r.chosen, 1e6 * r.chosen_s, 1e6 * r.mpi_s, r.speedup(), r.best_scattered,
             1e6 * r.scattered_s, r.best_tuna, 1e6 * r.tuna_s, r.versus_best_known());
  std::fflush(stdout);
}

void print_summary(const std::string& name, const Json& s) {
  fmt::print("{:<20} {:>5} {:>8.2f} {:>9.2f} {:>9.2f} {:>8.2f} {:>8.3f}\n", name, s["cases"].get<int>(),
             s["speedup_over_mpi_gmean"].get<double>(), s["slowdown_over_mpi_worst"].get<double>(),
             s["speedup_over_scattered_gmean"].get<double>(), s["speedup_over_tuna_gmean"].get<double>(),
             s["worst_vs_best_known"].get<double>());
}

/// The time of the choice for equal blocks ÷ that of the fastest of `equal_strategies`, in the worst case.
double equal_worst(const Options& options, const std::vector<ClusterShape>& all,
                   const std::vector<std::string>& profiles) {
  std::vector<double> ratios(all.size() * std::size(equal_bytes));
  if (!options.json)
    fmt::print("\n{:<14} {:>4} {:<18} {:<30} {:>9} {:>7}\n", "cluster", "P", "equal", "chosen", "us", "worst");
  in_parallel(ratios.size(), [&](std::size_t i) {
    const auto& cluster = all[i / std::size(equal_bytes)];
    const auto bytes = equal_bytes[i % std::size(equal_bytes)];
    const auto json = measure(options, cluster, profiles[i / std::size(equal_bytes)], equal_ranks,
                              fmt::format("alltoall:ranks={},bytes={}", equal_ranks, bytes), equal_strategies, true);
    const double seconds = json.at("chosen_s").get<double>();
    double best_s = seconds;
    std::string best = json.at("chosen").get<std::string>();
    for (const auto& row : json.at("ranking")) keep_faster(row, best, best_s);
    ratios[i] = seconds / best_s;
    if (!options.json)
      fmt::print("{:<14} {:>4} {:<18} {:<30} {:>9.2f} {:>7.3f}\n", cluster.name, equal_ranks, bytes,
                 json.at("chosen").get<std::string>(), 1e6 * seconds, ratios[i]);
  });
  return quantile(ratios, 1);
}

/// Runs recorded exchanges, and gives the ratios to their times.
Json versus_recorded(const Options& options, const std::vector<ClusterShape>& all,
                     const std::vector<std::string>& profiles) {
  std::vector<Json> results(std::size(all_recorded));
  in_parallel(results.size(), [&](std::size_t i) {
    const auto& [name, on, ranks, generator, is_alltoall, before_s] = all_recorded[i];
    const auto cluster = std::ranges::find(all, on, &ClusterShape::name);
    if (cluster == all.end()) return;
    const auto& profile = profiles[static_cast<std::size_t>(cluster - all.begin())];
    results[i] = measure(options, *cluster, profile, ranks, generator, "standard", is_alltoall);
  });
  Json ratios = Json::object();
  if (!options.json)
    fmt::print("\n{:<28} {:<30} {:>9} {:>9} {:>12} {:>6}\n", "against cf28408", "chosen", "us", "MPI us", "cf28408 us",
               "ratio");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].is_null()) continue;
    const auto& [name, on, ranks, generator, is_alltoall, before_s] = all_recorded[i];
    const double seconds = results[i].at("chosen_s").get<double>(),
                 mpi_s = results[i].at("baselines").at(0).at("measured_s").get<double>();
    ratios[fmt::format("{}_vs_cf28408", name)] = seconds / before_s;
    if (!options.json)
      fmt::print("{:<28} {:<30} {:>9.2f} {:>9.2f} {:>12.2f} {:>6.3f}\n", name,
                 results[i].at("chosen").get<std::string>(), 1e6 * seconds, 1e6 * mpi_s, 1e6 * before_s,
                 seconds / before_s);
  }
  return ratios;
}

Json alltoallv(const Options& options) {
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<18} {:<30} {:>9} {:>9} {:>7} {:<20} {:>9} {:<16} {:>9} {:>6}\n", "cluster", "P",
               "sizes", "chosen", "us", "MPI us", "speedup", "best scattered", "us", "best tuna", "us", "worst");
  const auto all = clusters(options.simulator);
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<Case> cases;
  for (const int p : {64, 128, 256})
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const auto& sizes : all_sizes)
        if (p <= (options.quick ? sizes.quick_ranks : most_ranks_of(sizes)))
          cases.push_back({all[i], profiles[i], p, sizes});
  std::vector<Result> results(cases.size());
  std::map<std::string, std::vector<Result>> by_cluster, by_sizes;
  std::map<int, std::vector<Result>> by_ranks;  // as by_cluster without the sparse ones
  in_parallel(
      cases.size(), [&](std::size_t i) { results[i] = run_case(options, cases[i]); },
      [&](std::size_t i) {
        if (!results[i].is_sparse) {
          by_cluster[results[i].cluster].push_back(results[i]);
          by_ranks[results[i].ranks].push_back(results[i]);
        }
        by_sizes[results[i].sizes].push_back(results[i]);
        if (!options.json) print_case(results[i]);
      });
  Json json;
  for (const auto& r : results)
    json["cases"].push_back({{"cluster", r.cluster},
                             {"ranks", r.ranks},
                             {"sizes", r.sizes},
                             {"chosen", r.chosen},
                             {"chosen_s", r.chosen_s},
                             {"mpi_s", r.mpi_s},
                             {"best_scattered", r.best_scattered},
                             {"scattered_s", r.scattered_s},
                             {"best_tuna", r.best_tuna},
                             {"tuna_s", r.tuna_s},
                             {"versus_best_known", r.versus_best_known()}});
  json["summary"] = summary_of_all(results);
  json["summary"].update(versus_recorded(options, all, profiles));
  json["summary"]["alltoall_worst_vs_best_known"] = equal_worst(options, all, profiles);
  if (options.json) return json;
  fmt::print("\n{:<20} {:>5} {:>8} {:>9} {:>9} {:>8} {:>8}\n", "speedup over", "cases", "MPI", "slowdown", "scattered",
             "tuna", "worst");
  for (const auto& [name, own] : by_sizes) print_summary(name, summary_of(own));
  for (const auto& [name, own] : by_cluster) print_summary(name, summary_of(own));
  for (const auto& [count, own] : by_ranks) print_summary(fmt::format("{} ranks", count), summary_of(own));
  print_summary("all but to few ranks", json["summary"]);
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "alltoallv",
      "All-to-alls that are called once on simulated clusters, against MPI_Alltoallv, scattered exchanges and tuna.",
      commpass::bench::alltoallv);
}
