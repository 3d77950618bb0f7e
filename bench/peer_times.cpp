#include "bench/peer_times.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/summary.hpp"
#include "model/base/file.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {

namespace {

std::size_t best_of(const PeerTimes& times) {
  return static_cast<std::size_t>(std::ranges::min_element(times.peers_s) - times.peers_s.begin());
}

double versus_best(const PeerTimes& times) { return times.chosen_s / times.peers_s[best_of(times)]; }

double error_of(const PeerTimes& times) { return times.predicted_s / times.chosen_s - 1; }

void print_head(const PeerComparison& comparison) {
  fmt::print("{:<14} {:>4} {:<22} {:<34} {:>9} {:>7} {:<20} {:>9} {:>6}\n", "cluster", "P", comparison.kind, "chosen",
             "us", "error", "best peer", "us", "ratio");
}

void print_case(const PeerComparison& comparison, const PeerCase& which, const PeerTimes& times) {
  const auto best = best_of(times);
  fmt::print("{:<14} {:>4} {:<22} {:<34} {:>9.2f} {:>6.1f}% {:<20} {:>9.2f} {:>6.3f}\n", which.cluster.name,
             which.ranks, comparison.exchanges[which.number], times.chosen, 1e6 * times.chosen_s, 1e2 * error_of(times),
             comparison.peers[best], 1e6 * times.peers_s[best], versus_best(times));
  std::fflush(stdout);
}

Json json_of(const PeerComparison& comparison, const PeerCase& which, const PeerTimes& times) {
  Json json{{"cluster", which.cluster.name},
            {"ranks", which.ranks},
            {comparison.kind, comparison.exchanges[which.number]},
            {"chosen", times.chosen},
            {"chosen_s", times.chosen_s},
            {"predicted_s", times.predicted_s},
            {"versus_best_peer", versus_best(times)}};
  for (std::size_t i = 0; i < times.peers_s.size(); ++i) json["peers"][comparison.peers[i]] = times.peers_s[i];
  return json;
}

Json summary_of(const std::vector<PeerTimes>& all) {
  std::vector<double> ratios, over_first, errors;
  for (const auto& times : all) {
    ratios.push_back(versus_best(times));
    over_first.push_back(times.peers_s.front() / times.chosen_s);
    errors.push_back(std::abs(error_of(times)));
  }
  return {{"versus_best_peer_gmean", geometric_mean(ratios)},
          {"versus_best_peer_worst", quantile(ratios, 1)},
          {"speedup_over_plain_loop_gmean", geometric_mean(over_first)},
          {"median_abs_error", quantile(errors, 0.5)},  // NOLINT: the median
          {"cases", all.size()}};
}

void print_summary(const Json& summary, const std::string& first_peer) {
  fmt::print(
      "\n{} cases: chosen / best peer {:.3f} (geometric mean), {:.3f} (worst); {} / chosen {:.2f}; median error {:.1f} "
      "%\n",
      summary["cases"].get<int>(), summary["versus_best_peer_gmean"].get<double>(),
      summary["versus_best_peer_worst"].get<double>(), first_peer,
      summary["speedup_over_plain_loop_gmean"].get<double>(), 1e2 * summary["median_abs_error"].get<double>());
}

std::vector<PeerCase> cases_of(const Options& options, const std::vector<ClusterShape>& clusters,
                               const std::vector<std::string>& profiles, const PeerComparison& comparison) {
  std::vector<PeerCase> cases;
  for (std::size_t c = 0; c < clusters.size(); ++c)
    for (const int ranks : options.quick ? std::vector{64} : std::vector{60, 64, 128})
      for (std::size_t i = 0; i < comparison.exchanges.size(); ++i) {
        auto files =
            fmt::format("{}/{}-{}-{}", options.simulator.scratch, clusters[c].name, comparison.exchanges[i], ranks);
        std::ranges::replace(files, ' ', '-');
        cases.push_back({clusters[c], profiles[c], ranks, i, std::move(files)});
      }
  return cases;
}

}  // namespace

Json compare_with_peers(const Options& options, const std::vector<ClusterShape>& clusters,
                        const PeerComparison& comparison) {
  if (!options.json) print_head(comparison);
  const auto profiles = calibrate_all(options.simulator, clusters);
  const auto cases = cases_of(options, clusters, profiles, comparison);
  std::vector<PeerTimes> times(cases.size());
  in_parallel(
      cases.size(), [&](std::size_t i) { times[i] = comparison.run(cases[i]); },
      [&](std::size_t i) {
        if (!options.json) print_case(comparison, cases[i], times[i]);
      });
  Json json;
  for (std::size_t i = 0; i < cases.size(); ++i) json["cases"].push_back(json_of(comparison, cases[i], times[i]));
  json["summary"] = summary_of(times);
  if (!options.json) print_summary(json["summary"], comparison.peers.front());
  return json;
}

std::vector<double> time_schedules(const Simulator& simulator, const PeerCase& which,
                                   const std::vector<std::string>& schedules, const std::string& options) {
  std::string arguments = options;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const auto file = fmt::format("{}-{}.txt", which.files, i);
    write_file(file, schedules[i]);
    arguments += fmt::format(" '{}'", file);
  }
  return Json::parse(simulate(simulator, which.cluster, which.ranks, "commpass-reference", arguments))
      .get<std::vector<double>>();
}

}  // namespace commpass::bench
