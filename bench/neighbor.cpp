// bench neighbor: choices for neighbour exchanges against the methods of other libraries, in one simulated program.
#include <fmt/core.h>

#include "bench/options.hpp"
#include "bench/peer_schedules.hpp"
#include "bench/peer_times.hpp"
#include "bench/skewed_patterns.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/pattern/matrix_pattern.hpp"
#include "selector/choose/select.hpp"
#include "selector/commands/arguments.hpp"

namespace commpass::bench {
namespace {

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

PeerTimes run_case(const Options& options, const PeerCase& which) {
  const auto pattern = patterns[which.number].make(which.ranks);
  const auto layout_text = layout_of(which.cluster, which.ranks);
  const auto layout = parse_layout(layout_text, which.ranks);
  const auto machine = read_profile(which.profile).machine;
  const auto chosen = to_string(
      as_run(rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::cheapest).front()));
  write_pattern(pattern, which.files + ".mtx");
  const auto measured =
      Json::parse(simulate(options.simulator, which.cluster, which.ranks, "commpass-measure",
                           fmt::format("--profile '{}' --layout {} --pattern '{}.mtx' --strategies '{}' --json "
                                       "--repetitions 1 --progress never",
                                       which.profile, layout_text, which.files, chosen)))
          .at("ranking")
          .at(0);

  std::vector<std::string> schedules;
  for (const auto& peer : peers) schedules.push_back(to_text(peer.make(pattern, layout)));
  return {chosen, measured.at("measured_s").get<double>(), measured.at("predicted_s").get<double>(),
          time_schedules(options.simulator, which, schedules)};
}

Json neighbor(const Options& options) {
  PeerComparison comparison{"pattern", {}, {}, [&](const PeerCase& which) { return run_case(options, which); }};
  for (const auto& pattern : patterns) comparison.exchanges.emplace_back(pattern.name);
  for (const auto& peer : peers) comparison.peers.emplace_back(peer.name);
  return compare_with_peers(options, clusters(options.simulator), comparison);
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "neighbor", "Neighbour exchanges on simulated clusters, against what other libraries do.",
      commpass::bench::neighbor);
}
