// bench neighbor: what is chosen for neighbour exchanges against what other libraries do, in one simulated program.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/options.hpp"
#include "bench/peer_schedules.hpp"
#include "bench/peer_times.hpp"
#include "bench/skewed_patterns.hpp"
#include "bench/summary.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/pattern/matrix_pattern.hpp"
#include "selector/choose/parallel.hpp"
#include "selector/choose/select.hpp"
#include "selector/commands/arguments.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;

Pattern of_matrix(const char* name, int ranks) {
  PatternArguments arguments;
  arguments.matrix_file = fmt::format("{}/{}.mtx.gz", COMMPASS_EXAMPLE_MATRICES, name);
  arguments.ranks = ranks;
  return arguments.load();
}

struct PatternCase {
  const char* name;
  Pattern (*make)(int ranks);
};

constexpr PatternCase patterns[] = {
    {"matrix copter2", [](int ranks) { return of_matrix("copter2", ranks); }},
    {"matrix debian12-deps", [](int ranks) { return of_matrix("debian12-deps", ranks); }},
    {"random 8 x 64 B",
     [](int ranks) { return generate_pattern(fmt::format("random:ranks={},bytes=64,degree=8", ranks)); }},
    {"random 12 x 4 KiB",
     [](int ranks) { return generate_pattern(fmt::format("random:ranks={},bytes=4KiB,degree=12", ranks)); }},
    {"hot receiver", hot_receiver},
    {"3 B to 200 KiB", wide_sizes},
};

struct Peer {
  const char* name;
  PeerSchedule (*make)(const Pattern& pattern, const Layout& layout);
};

constexpr Peer peers[] = {
    {"plain loop", plain_loop}, {"loop by distance", loop_by_distance}, {"locality-aware", locality_aware}};

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks;
  const PatternCase& pattern;
};

struct Result {
  std::string cluster, pattern, chosen;
  int ranks = 0;
  double chosen_s = 0;
  std::array<double, std::size(peers)> peers_s{};

  std::size_t best() const { return static_cast<std::size_t>(std::ranges::min_element(peers_s) - peers_s.begin()); }
  double versus_best() const { return chosen_s / peers_s[best()]; }
};

Result run_case(const Options& options, const Case& which) {
  const auto& [cluster, profile, ranks, of] = which;
  const auto pattern = of.make(ranks);
  const auto layout_text = layout_of(cluster, ranks);
  const auto layout = parse_layout(layout_text, ranks);
  std::string name = fmt::format("{}/{}-{}-{}", options.simulator.scratch, cluster.name, of.name, ranks);
  std::ranges::replace(name, ' ', '-');

  Result result{cluster.name, of.name, {}, ranks};
  const auto machine = read_profile(profile).machine;
  result.chosen = to_string(
      rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::cheapest).front().strategy);
  write_pattern(pattern, name + ".mtx");
  const auto measured = Json::parse(
      simulate(options.simulator, cluster, ranks, "commpass-measure",
               fmt::format("--profile '{}' --layout {} --pattern '{}.mtx' --strategies '{}' --json --repetitions 1 "
                           "--progress never",
                           profile, layout_text, name, result.chosen)));
  result.chosen_s = measured.at("ranking").at(0).at("measured_s");

  std::vector<std::string> schedules;
  for (const auto& peer : peers) schedules.push_back(to_text(peer.make(pattern, layout)));
  std::ranges::copy(time_schedules(options.simulator, cluster, ranks, schedules, name), result.peers_s.begin());
  return result;
}

void print_case(const Result& r) {
  fmt::print("{:<14} {:>4} {:<22} {:<34} {:>9.2f} {:<18} {:>9.2f} {:>6.3f}\n", r.cluster, r.ranks, r.pattern, r.chosen,
             1e6 * r.chosen_s, peers[r.best()].name, 1e6 * r.peers_s[r.best()], r.versus_best());
  std::fflush(stdout);
}

Json summary_of(const std::vector<Result>& results) {
  std::vector<double> ratios, over_plain;
  for (const auto& r : results) {
    ratios.push_back(r.versus_best());
    over_plain.push_back(r.peers_s.front() / r.chosen_s);
  }
  return {{"versus_best_peer_gmean", geometric_mean(ratios)},
          {"versus_best_peer_worst", quantile(ratios, 1)},
          {"speedup_over_plain_loop_gmean", geometric_mean(over_plain)},
          {"cases", results.size()}};
}

Json neighbor(const Options& options) {
  const std::vector<int> ranks = options.quick ? std::vector{64} : std::vector{60, 64, 128};
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<22} {:<34} {:>9} {:<18} {:>9} {:>6}\n", "cluster", "P", "pattern", "chosen", "us",
               "best peer", "us", "ratio");
  const auto all = clusters(options.simulator);
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const int p : ranks)
      for (const auto& pattern : patterns) cases.push_back({all[i], profiles[i], p, pattern});
  std::vector<Result> results(cases.size());
  in_parallel(
      cases.size(), [&](std::size_t i) { results[i] = run_case(options, cases[i]); },
      [&](std::size_t i) {
        if (!options.json) print_case(results[i]);
      });
  Json json;
  for (const auto& r : results) {
    json["cases"].push_back({{"cluster", r.cluster},
                             {"ranks", r.ranks},
                             {"pattern", r.pattern},
                             {"chosen", r.chosen},
                             {"chosen_s", r.chosen_s},
                             {"versus_best_peer", r.versus_best()}});
    for (std::size_t i = 0; i < std::size(peers); ++i) json["cases"].back()["peers"][peers[i].name] = r.peers_s[i];
  }
  json["summary"] = summary_of(results);
  if (options.json) return json;
  const auto& s = json["summary"];
  fmt::print("\n{} cases: chosen / best peer {:.3f} (geometric mean), {:.3f} (worst); plain loop / chosen {:.2f}\n",
             s["cases"].get<int>(), s["versus_best_peer_gmean"].get<double>(),
             s["versus_best_peer_worst"].get<double>(), s["speedup_over_plain_loop_gmean"].get<double>());
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "neighbor", "Neighbour exchanges on simulated clusters, against what other libraries do.",
      commpass::bench::neighbor);
}
