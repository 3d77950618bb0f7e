// bench indexed: what is chosen for indexed exchanges against what other libraries do, in one simulated program.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/options.hpp"
#include "bench/peer_times.hpp"
#include "bench/summary.hpp"
#include "bench/value_needs.hpp"
#include "model/file.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;

ValueNeeds of_matrix(const char* name, int ranks) {
  return needs_of_matrix(read_matrix_market(fmt::format("{}/{}.mtx.gz", COMMPASS_EXAMPLE_MATRICES, name)), ranks);
}

struct NeedsCase {
  const char* name;
  ValueNeeds (*make)(int ranks);
  bool quick;  ///< part of --quick
};

constexpr NeedsCase cases_of_needs[] = {
    {"matrix copter2", [](int ranks) { return of_matrix("copter2", ranks); }, false},
    {"matrix debian12-deps", [](int ranks) { return of_matrix("debian12-deps", ranks); }, true},
    {"8 ranks x 8 values", [](int ranks) { return random_needs(ranks, 8, 8); }, false},
    {"16 ranks x 64 values", [](int ranks) { return random_needs(ranks, 16, 64); }, true},
    {"200 popular values", [](int ranks) { return popular_needs(ranks, 200); }, true},
};

struct Peer {
  const char* name;
  PeerSchedule (*make)(const ValueNeeds& needs, const Layout& layout);
};

constexpr Peer peers[] = {{"packed loop", packed_loop},
                          {"locality-aware", packed_locality_aware},
                          {"locality-aware once", locality_aware_once}};

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks;
  const NeedsCase& of;
};

struct Result {
  std::string cluster, needs, chosen;
  int ranks = 0;
  double chosen_s = 0, predicted_s = 0;
  std::array<double, std::size(peers)> peers_s{};

  std::size_t best() const { return static_cast<std::size_t>(std::ranges::min_element(peers_s) - peers_s.begin()); }
  double versus_best() const { return chosen_s / peers_s[best()]; }
  double error() const { return predicted_s / chosen_s - 1; }
};

Result run_case(const Options& options, const Case& which) {
  const auto& [cluster, profile, ranks, of] = which;
  const auto needs = of.make(ranks);
  const auto layout_text = layout_of(cluster, ranks);
  std::string name = fmt::format("{}/{}-{}-{}", options.simulator.scratch, cluster.name, of.name, ranks);
  std::ranges::replace(name, ' ', '-');

  Result result{cluster.name, of.name, {}, ranks};
  write_file(name + ".needs", to_text(needs));
  const auto own =
      Json::parse(simulate(options.simulator, cluster, ranks, "commpass-indexed",
                           fmt::format("--profile '{}' --layout {} '{}.needs'", profile, layout_text, name)))
          .at(0);
  result.chosen = own.at("strategy").get<std::string>() + (own.at("shares_values") ? ", shared" : "");
  result.chosen_s = own.at("seconds");
  result.predicted_s = own.at("predicted_s");

  const auto layout = parse_layout(layout_text, ranks);
  std::vector<std::string> schedules;
  for (const auto& peer : peers) schedules.push_back(to_text(peer.make(needs, layout)));
  std::ranges::copy(time_schedules(options.simulator, cluster, ranks, schedules, name, "--values"),
                    result.peers_s.begin());
  return result;
}

void print_case(const Result& r) {
  fmt::print("{:<14} {:>4} {:<22} {:<34} {:>9.2f} {:>6.1f}% {:<20} {:>9.2f} {:>6.3f}\n", r.cluster, r.ranks, r.needs,
             r.chosen, 1e6 * r.chosen_s, 1e2 * r.error(), peers[r.best()].name, 1e6 * r.peers_s[r.best()],
             r.versus_best());
  std::fflush(stdout);
}

Json summary_of(const std::vector<Result>& results) {
  std::vector<double> ratios, errors;
  for (const auto& r : results) {
    ratios.push_back(r.versus_best());
    errors.push_back(std::abs(r.error()));
  }
  return {{"versus_best_peer_gmean", geometric_mean(ratios)},
          {"versus_best_peer_worst", quantile(ratios, 1)},
          {"median_abs_error", quantile(errors, 0.5)},  // NOLINT: the median
          {"cases", results.size()}};
}

Json indexed(const Options& options) {
  const std::vector<int> ranks = options.quick ? std::vector{64} : std::vector{60, 64, 128};
  if (!options.json)
    fmt::print("{:<14} {:>4} {:<22} {:<34} {:>9} {:>7} {:<20} {:>9} {:>6}\n", "cluster", "P", "needs", "chosen", "us",
               "error", "best peer", "us", "ratio");
  auto all = clusters(options.simulator);
  // Where peers were ahead once: dear messages, and a network that is worth sharing values.
  if (options.quick)
    std::erase_if(all, [](const ClusterShape& c) { return c.name != "latency-bound" && c.name != "slow-network"; });
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const int p : ranks)
      for (const auto& of : cases_of_needs)
        if (of.quick || !options.quick) cases.push_back({all[i], profiles[i], p, of});
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
                             {"needs", r.needs},
                             {"chosen", r.chosen},
                             {"chosen_s", r.chosen_s},
                             {"predicted_s", r.predicted_s},
                             {"versus_best_peer", r.versus_best()}});
    for (std::size_t i = 0; i < std::size(peers); ++i) json["cases"].back()["peers"][peers[i].name] = r.peers_s[i];
  }
  json["summary"] = summary_of(results);
  if (options.json) return json;
  const auto& s = json["summary"];
  fmt::print("\n{} cases: chosen / best peer {:.3f} (geometric mean), {:.3f} (worst); median error {:.1f} %\n",
             s["cases"].get<int>(), s["versus_best_peer_gmean"].get<double>(),
             s["versus_best_peer_worst"].get<double>(), 1e2 * s["median_abs_error"].get<double>());
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "indexed", "Indexed exchanges on simulated clusters, against what other libraries do.",
      commpass::bench::indexed);
}
