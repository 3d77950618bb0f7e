// bench cartesian: Cartesian collectives on simulated clusters: what we choose against the plain loop over all
// neighbours, which MPI libraries run, and against a message for each neighbour, message combining and Bruck's
// algorithm (tuna). The neighbourhoods are those of the Cartesian paper §4.1.1.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "bench/options.hpp"
#include "bench/summary.hpp"
#include "model/base/json.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

struct Shape {
  int dimensions;
  int values;  ///< of each coordinate, from −1 up
  int ranks;
  const char* dims;
  bool quick;
};

// Those that take longest come last.
constexpr Shape shapes[] = {
    {2, 3, 64, "8x8", true},       {3, 3, 64, "4x4x4", true},     {4, 3, 81, "3x3x3x3", true},
    {2, 4, 64, "8x8", false},      {2, 5, 64, "8x8", false},      {2, 3, 256, "16x16", false},
    {3, 4, 64, "4x4x4", false},    {3, 5, 125, "5x5x5", false},   {3, 3, 256, "8x8x4", false},
    {2, 5, 256, "16x16", false},   {4, 3, 256, "4x4x4x4", false}, {5, 3, 243, "3x3x3x3x3", false},
    {4, 4, 256, "4x4x4x4", false}, {4, 5, 256, "4x4x4x4", false},
};

// Of the quick cases.
constexpr const char* quick_clusters[] = {"lassen-like", "latency-bound"};

constexpr int int_bytes = 4;
constexpr int blocks_of_ints[] = {1, 10, 100};

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  const Shape& shape;
  int ints;
  bool is_allgather;
};

struct Result {
  std::string chosen;
  double chosen_s = 0, loop_s = 0, trivial_s = 0, combining_s = 0, bruck_s = 0;

  double speedup() const { return loop_s / chosen_s; }
  double versus_best_known() const { return chosen_s / std::min({trivial_s, combining_s, bruck_s}); }
};

Result run_case(const Options& options, const Case& which) {
  const auto& [cluster, profile, shape, ints, is_allgather] = which;
  const auto json = Json::parse(simulate(
      options.simulator, cluster, shape.ranks, "commpass-measure",
      fmt::format(
          "--profile '{}' --layout {} --generate cartesian:dims={},cube={},bytes={},payload={} --cartesian "
          "--strategies 'trivial;cartesian;tuna,radix={},window=unlimited' --json --repetitions 1 --progress never",
          profile, layout_of(cluster, shape.ranks), shape.dims, shape.values, ints * int_bytes,
          is_allgather ? "same" : "own", shape.values)));
  const auto measured = [&](const char* rows, int row) { return json.at(rows)[row].at("measured_s").get<double>(); };
  return {json.at("chosen").get<std::string>(),
          json.at("chosen_s").get<double>(),
          measured("baselines", 0),
          measured("ranking", 0),
          measured("ranking", 1),
          measured("ranking", 2)};
}

Json summary_of(const std::vector<Result>& results) {
  std::vector<double> speedups, worst;
  for (const auto& r : results) {
    speedups.push_back(r.speedup());
    worst.push_back(r.versus_best_known());
  }
  const double speedup = geometric_mean(speedups);
  return {{"speedup_over_mpi_gmean", speedup},
          {"slowdown_over_mpi_gmean", 1 / speedup},  // for bounds, which are from above
          {"worst_vs_best_known", quantile(worst, 1)},
          {"cases", results.size()}};
}

std::string name_of(const Case& which) {
  return fmt::format("{} d={} n={} m={}", which.is_allgather ? "allgather" : "alltoall", which.shape.dimensions,
                     which.shape.values, which.ints);
}

void print_case(const Case& which, const Result& r) {
  fmt::print("{:<14} {:>4} {:<26} {:<48} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>7.2f} {:>7.3f}\n",
             which.cluster.name, which.shape.ranks, name_of(which), r.chosen, 1e6 * r.chosen_s, 1e6 * r.loop_s,
             1e6 * r.trivial_s, 1e6 * r.combining_s, 1e6 * r.bruck_s, r.speedup(), r.versus_best_known());
  std::fflush(stdout);
}

Json cartesian(const Options& options) {
  const auto all = clusters(options.simulator);
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<Case> cases;
  for (const auto& shape : shapes)
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const int ints : blocks_of_ints)
        for (const bool is_allgather : {false, true})
          if (!options.quick || (shape.quick && std::ranges::count(quick_clusters, all[i].name) > 0))
            cases.push_back({all[i], profiles[i], shape, ints, is_allgather});
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<26} {:<48} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}\n", "cluster", "P", "exchange",
               "chosen", "us", "loop us", "trivial", "combining", "Bruck", "speedup", "worst");
  std::vector<Result> results(cases.size());
  std::map<std::string, std::vector<Result>> by_dimensions;
  in_parallel(
      cases.size(), [&](std::size_t i) { results[i] = run_case(options, cases[i]); },
      [&](std::size_t i) {
        by_dimensions[fmt::format("d={}, {} ints", cases[i].shape.dimensions, cases[i].ints)].push_back(results[i]);
        if (!options.json) print_case(cases[i], results[i]);
      });
  Json json;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& r = results[i];
    json["cases"].push_back({{"cluster", cases[i].cluster.name},
                             {"ranks", cases[i].shape.ranks},
                             {"exchange", name_of(cases[i])},
                             {"chosen", r.chosen},
                             {"chosen_s", r.chosen_s},
                             {"loop_s", r.loop_s},
                             {"trivial_s", r.trivial_s},
                             {"combining_s", r.combining_s},
                             {"bruck_s", r.bruck_s}});
  }
  json["summary"] = summary_of(results);
  if (options.json) return json;
  fmt::print("\n{:<20} {:>5} {:>10} {:>8}\n", "over the plain loop", "cases", "speedup", "worst");
  const auto print_summary = [](const std::string& name, const Json& s) {
    fmt::print("{:<20} {:>5} {:>10.2f} {:>8.3f}\n", name, s["cases"].get<int>(),
               s["speedup_over_mpi_gmean"].get<double>(), s["worst_vs_best_known"].get<double>());
  };
  for (const auto& [name, own] : by_dimensions) print_summary(name, summary_of(own));
  print_summary("all", json["summary"]);
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "cartesian",
      "Cartesian collectives on simulated clusters, against the plain loop over all neighbours and the paper's two "
      "algorithms.",
      commpass::bench::cartesian);
}
