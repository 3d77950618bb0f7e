#include "calibrate/held_out.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "runtime/mpi/agreement.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

namespace {

constexpr Bytes kibi = 1 << 10;

struct Kind {
  const char* name;
  int messages = 0;  ///< of each rank
  Bytes least = 0, most = 0;
  std::size_t least_stages = 1;
  bool has_rivals = false;  ///< other strategies run, too, which shows what they do not have in common
};

constexpr Kind kinds[] = {{"few large", 2, 256 * kibi, 1024 * kibi},
                          {"many small", 32, 8, 512, 1, true},
                          {"mixed", 8, 8, 256 * kibi},
                          {"one small", 1, 800, 800},
                          {"few small", 3, 8, 2 * kibi},
                          {"some middling", 6, 2 * kibi, 32 * kibi, 1, true},
                          {"small in stages", 16, 8, 1 * kibi, 2, true}};

/// Log-uniform.
Bytes draw_bytes(Bytes least, Bytes most, std::mt19937_64& random) {
  return std::llround(static_cast<double>(least) *
                      std::pow(static_cast<double>(most) / static_cast<double>(least), uniform(random)));
}

/// Everyone sends to ranks drawn at random, some of them perhaps twice.
Pattern draw_pattern(const Kind& kind, int ranks, std::mt19937_64& random) {
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (int i = 0; i < kind.messages; ++i) {
      const auto ahead = 1 + static_cast<int>(uniform(random) * (ranks - 1));
      pattern.edges.push_back({source, (source + ahead) % ranks, draw_bytes(kind.least, kind.most, random)});
    }
  return pattern;
}

/// Everyone on the first nodes sends to ranks of the others of these nodes.
Pattern draw_between_nodes(const Layout& layout, int nodes, std::mt19937_64& random) {
  Pattern pattern{layout.ranks(), {}};
  constexpr int messages = 2;
  constexpr Bytes least = 256 * kibi, most = 1024 * kibi;
  for (int node = 0; node < nodes; ++node)
    for (const Rank source : layout.ranks_of(node))
      for (int i = 0; i < messages; ++i) {
        const auto to = layout.ranks_of((node + 1 + static_cast<int>(uniform(random) * (nodes - 1))) % nodes);
        const auto place = static_cast<std::size_t>(uniform(random) * static_cast<double>(to.size()));
        pattern.edges.push_back({source, to[place], draw_bytes(least, most, random)});
      }
  return pattern;
}

/// Those to run, the first of them what would be chosen.
std::vector<std::string> strategies_for_trial(const std::vector<Candidate>& ranking, std::size_t least_stages,
                                              bool has_rivals) {
  std::vector<std::string> names;
  const auto add_first = [&](auto is_wanted) {
    const auto found = std::ranges::find_if(ranking, is_wanted);
    if (found == ranking.end()) return;
    if (auto name = to_string(found->strategy); std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  };
  add_first([&](const Candidate& candidate) { return candidate.cost.stages.size() >= least_stages; });
  if (names.empty() || !has_rivals) return names;
  add_first([](const Candidate& candidate) { return candidate.strategy.route == "standard"; });
  add_first([](const Candidate& candidate) { return candidate.cost.stages.size() > 1; });
  return names;
}

void add_neighbor_exchange(Calibration& calibration, ExchangeTrials& trials, const Kind& kind, const Pattern& pattern,
                           const std::string& part_of = {}) {
  const auto names = found_by_rank_0(calibration.comm.get(), [&] {
    const auto ranking = rank_strategies(pattern, calibration.layout, calibration.machine);
    return join(strategies_for_trial(ranking, kind.least_stages, kind.has_rivals), ";");
  });
  if (names.empty())
    calibration.not_measured(fmt::format("held_out '{}': no strategy has several stages here", kind.name));
  else trials.add_planned(kind.name, pattern, split(names, ';'), part_of);
}

/// Large messages between two nodes alone, and between all of them.
void add_parts_of_network(Calibration& calibration, ExchangeTrials& trials) {
  constexpr int part = 2;  // nodes, whose messages meet no others
  const auto& layout = calibration.layout;
  if (layout.nodes() <= part) return;
  std::mt19937_64 random(3);
  constexpr Kind whole{.name = "large between all nodes"}, between_two{.name = "large between two nodes"};
  add_neighbor_exchange(calibration, trials, whole, draw_between_nodes(layout, layout.nodes(), random));
  add_neighbor_exchange(calibration, trials, between_two, draw_between_nodes(layout, part, random), whole.name);
}

}  // namespace

void add_held_out(Calibration& calibration, ExchangeTrials& trials) {
  std::mt19937_64 random(2);
  for (const auto& kind : kinds)
    add_neighbor_exchange(calibration, trials, kind, draw_pattern(kind, calibration.layout.ranks(), random));
  add_parts_of_network(calibration, trials);
  add_held_out_calls(calibration, trials);
}

}  // namespace commpass
