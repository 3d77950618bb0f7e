// bench sums: the way back of indexed exchanges, with contributions added by owners alone and where they meet.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/options.hpp"
#include "bench/summary.hpp"
#include "bench/value_needs.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

struct SumsCase {
  const ClusterShape& cluster;
  const std::string& profile;
  std::string matrix;  ///< its name
  int ranks = 0;
};

/// What a way back of a case took.
struct Way {
  std::string strategy;
  bool adds_on_the_way = false;
  double bytes = 0, seconds = 0, predicted_s = 0;

  explicit Way(const Json& json)
      : strategy(json.at("strategy").get<std::string>()),
        adds_on_the_way(json.at("adds_on_the_way").get<bool>()),
        bytes(json.at("bytes_between_nodes").get<double>()),
        seconds(json.at("seconds").get<double>()),
        predicted_s(json.at("predicted_s").get<double>()) {}
};

double regret_of(const Json& result) {
  return Way(result.at("chosen")).seconds / std::min(Way(result.at("owner")).seconds, Way(result.at("way")).seconds);
}

Json run_case(const Options& options, const SumsCase& of) {
  const auto file = fmt::format("{}/{}-{}-{}.needs", options.simulator.scratch, of.cluster.name, of.matrix, of.ranks);
  const auto matrix = read_matrix(fmt::format("{}/{}.mtx.gz", options.matrices, of.matrix));
  write_file(file, to_text(needs_of_matrix(matrix, of.ranks)));
  auto result = Json::parse(simulate(
      options.simulator, of.cluster, of.ranks, "commpass-indexed",
      fmt::format("--back --profile '{}' --layout {} '{}'", of.profile, layout_of(of.cluster, of.ranks), file)));
  result["cluster"] = of.cluster.name;
  result["matrix"] = of.matrix;
  result["ranks"] = of.ranks;
  return result;
}

void print_case(const Json& result) {
  const Way owner(result.at("owner")), way(result.at("way")), chosen(result.at("chosen"));
  fmt::print("{:<14} {:>4} {:<16} {:>9.1f} {:>9.1f} {:>9.2f} {:<28} {:>9.2f} {:<28} {:>9.2f} {:>6.1f}% {:>6.3f} {}\n",
             result.at("cluster").get<std::string>(), result.at("ranks").get<int>(),
             result.at("matrix").get<std::string>(), 1e-3 * owner.bytes, 1e-3 * way.bytes, 1e6 * owner.seconds,
             owner.strategy, 1e6 * way.seconds, way.strategy, 1e6 * chosen.seconds,
             1e2 * (chosen.predicted_s / chosen.seconds - 1), regret_of(result),
             chosen.adds_on_the_way ? "on the way" : "by owners");
  std::fflush(stdout);
}

Json summary_of(const Json& cases) {
  std::vector<double> bytes, seconds, regrets, errors;
  for (const auto& result : cases) {
    const Way owner(result.at("owner")), way(result.at("way")), chosen(result.at("chosen"));
    bytes.push_back(way.bytes / owner.bytes);
    seconds.push_back(chosen.seconds / owner.seconds);
    regrets.push_back(regret_of(result));
    errors.push_back(std::abs(chosen.predicted_s / chosen.seconds - 1));
  }
  return {{"bytes_between_nodes_ratio_gmean", geometric_mean(bytes)},
          {"chosen_vs_owners_gmean", geometric_mean(seconds)},
          {"chosen_vs_owners_worst", quantile(seconds, 1)},
          {"regret_gmean", geometric_mean(regrets)},
          {"regret_worst", quantile(regrets, 1)},
          {"median_abs_error", quantile(errors, 0.5)},  // NOLINT: the median
          {"cases", cases.size()}};
}

std::vector<std::string> matrices_in(const std::string& directory) {
  constexpr std::string_view ending = ".mtx.gz";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (const auto name = entry.path().filename().string(); name.ends_with(ending))
      names.push_back(name.substr(0, name.size() - ending.size()));
  std::ranges::sort(names);
  return names;
}

Json sums(const Options& options) {
  auto all = clusters(options.simulator);
  if (options.quick)
    std::erase_if(all, [](const ClusterShape& c) { return c.name != "lassen-like" && c.name != "slow-network"; });
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<SumsCase> cases;
  for (std::size_t c = 0; c < all.size(); ++c)
    for (const int ranks : options.quick ? std::vector{64} : std::vector{60, 64, 128})
      for (const auto& matrix : matrices_in(options.matrices)) cases.push_back({all[c], profiles[c], matrix, ranks});
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<16} {:>9} {:>9} {:>9} {:<28} {:>9} {:<28} {:>9} {:>7} {:>6}\n", "cluster", "P",
               "matrix", "owner kB", "way kB", "owner us", "", "way us", "", "chosen us", "error", "regret");
  std::vector<Json> results(cases.size());
  in_parallel(
      cases.size(), [&](std::size_t i) { results[i] = run_case(options, cases[i]); },
      [&](std::size_t i) {
        if (!options.json) print_case(results[i]);
      });
  Json json;
  for (auto& result : results) json["cases"].push_back(std::move(result));
  json["summary"] = summary_of(json["cases"]);
  if (!options.json) fmt::print("\n{}\n", json["summary"].dump());
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "sums",
      "The way back of indexed exchanges on simulated clusters, with sums by owners and on the way.",
      commpass::bench::sums);
}
