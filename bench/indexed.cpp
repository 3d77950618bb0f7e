// bench indexed: choices for indexed exchanges against the methods of other libraries, in one simulated program.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "bench/options.hpp"
#include "bench/peer_times.hpp"
#include "bench/value_needs.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"

namespace commpass::bench {
namespace {

ValueNeeds of_matrix(const char* name, int ranks) {
  return needs_of_matrix(read_matrix(fmt::format("{}/{}.mtx.gz", COMMPASS_EXAMPLE_MATRICES, name)), ranks);
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

PeerTimes run_case(const Options& options, const PeerCase& which, const NeedsCase& of) {
  const auto needs = of.make(which.ranks);
  const auto layout_text = layout_of(which.cluster, which.ranks);
  write_file(which.files + ".needs", to_text(needs));
  const auto own = Json::parse(simulate(options.simulator, which.cluster, which.ranks, "commpass-indexed",
                                        fmt::format("--profile '{}' --layout {} '{}.needs'", which.profile, layout_text,
                                                    which.files)))
                       .at(0);

  const auto layout = parse_layout(layout_text, which.ranks);
  std::vector<std::string> schedules;
  for (const auto& peer : peers) schedules.push_back(to_text(peer.make(needs, layout)));
  return {own.at("strategy").get<std::string>() + (own.at("shares_values").get<bool>() ? ", shared" : ""),
          own.at("seconds").get<double>(), own.at("predicted_s").get<double>(),
          time_schedules(options.simulator, which, schedules, "--values")};
}

Json indexed(const Options& options) {
  auto all = clusters(options.simulator);
  // Where peers were ahead once: expensive messages, and a network on which sharing values pays.
  if (options.quick)
    std::erase_if(all, [](const ClusterShape& c) { return c.name != "latency-bound" && c.name != "slow-network"; });
  std::vector<NeedsCase> needs;
  std::ranges::copy_if(cases_of_needs, std::back_inserter(needs),
                       [&](const NeedsCase& of) { return of.quick || !options.quick; });
  PeerComparison comparison{
      "needs", {}, {}, [&](const PeerCase& which) { return run_case(options, which, needs[which.number]); }};
  for (const auto& of : needs) comparison.exchanges.emplace_back(of.name);
  for (const auto& peer : peers) comparison.peers.emplace_back(peer.name);
  return compare_with_peers(options, all, comparison);
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "indexed", "Indexed exchanges on simulated clusters, against what other libraries do.",
      commpass::bench::indexed);
}
