// Held-out exchanges: no parameter was fitted to them. Where the profile predicts them badly, the rest of the budget
// measures the responsible level again.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "calibrate/calibration.hpp"
#include "calibrate/exchange_trials.hpp"
#include "calibrate/fit/verdict.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/pattern/sparse_traffic.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {

namespace {

constexpr Bytes kibi = 1 << 10;

struct Kind {
  const char* name;
  int messages = 0;  ///< of each rank
  Bytes bytes_min = 0, bytes_max = 0;
  std::size_t stages_min = 1;
  bool has_rivals = false;  ///< other strategies run, too; their errors may differ from that of the choice
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

/// Every rank sends to ranks drawn at random, possibly to one of them twice.
Pattern draw_pattern(const Kind& kind, int ranks, std::mt19937_64& random) {
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (int i = 0; i < kind.messages; ++i) {
      const auto ahead = 1 + static_cast<int>(uniform(random) * (ranks - 1));
      pattern.edges.push_back({source, (source + ahead) % ranks, draw_bytes(kind.bytes_min, kind.bytes_max, random)});
    }
  return pattern;
}

/// Every rank of the first nodes sends to ranks of the others of these nodes.
Pattern draw_between_nodes(const Layout& layout, int nodes, std::mt19937_64& random) {
  Pattern pattern{layout.ranks(), {}};
  constexpr int messages = 2;
  constexpr Bytes bytes_min = 256 * kibi, bytes_max = 1024 * kibi;
  for (int node = 0; node < nodes; ++node)
    for (const Rank source : layout.ranks_of(node))
      for (int i = 0; i < messages; ++i) {
        const auto to = layout.ranks_of((node + 1 + static_cast<int>(uniform(random) * (nodes - 1))) % nodes);
        const auto place = static_cast<std::size_t>(uniform(random) * static_cast<double>(to.size()));
        pattern.edges.push_back({source, to[place], draw_bytes(bytes_min, bytes_max, random)});
      }
  return pattern;
}

/// A block for every other rank, of 1 to 256 bytes.
Pattern draw_all_to_all(int ranks) {
  std::mt19937_64 random(4);
  constexpr double bytes_max = 256;
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (Rank destination = 0; destination < ranks; ++destination)
      if (source != destination)
        pattern.edges.push_back({source, destination, 1 + static_cast<Bytes>(bytes_max * uniform(random))});
  return pattern;
}

/// A few equal messages to different ranks, whose receivers know nothing of them.
Pattern draw_sparse(int ranks) {
  std::mt19937_64 random(5);
  constexpr int messages_max = 4;
  constexpr Bytes bytes = 256;
  Pattern pattern{ranks, {}};
  const int messages = std::min(messages_max, ranks - 1);
  for (Rank source = 0; source < ranks; ++source) {
    const auto first = static_cast<int>(uniform(random) * (ranks - 1));
    for (int i = 0; i < messages; ++i)
      pattern.edges.push_back({source, (source + 1 + (first + i) % (ranks - 1)) % ranks, bytes});
  }
  return pattern;
}

/// The strategies to run; the first is the choice.
std::vector<std::string> strategies_for_trial(const std::vector<Candidate>& ranking, const Kind& kind) {
  std::vector<std::string> names;
  const auto add_first = [&](auto is_wanted) {
    const auto found = std::ranges::find_if(ranking, is_wanted);
    if (found == ranking.end()) return;
    if (auto name = to_string(found->strategy); std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  };
  add_first([&](const Candidate& candidate) { return candidate.cost.stages.size() >= kind.stages_min; });
  if (names.empty() || !kind.has_rivals) return names;
  add_first([](const Candidate& candidate) {
    return candidate.strategy.route == "standard" && !candidate.strategy.path.is_shared;
  });
  add_first([](const Candidate& candidate) { return candidate.cost.stages.size() > 1; });
  return names;
}

void add_planned(Calibration& calibration, ExchangeTrials& trials, const Kind& kind, const Pattern& pattern,
                 const std::string& part_of = {}) {
  const auto names = found_by_rank_0(calibration.comm.get(), [&] {
    const auto& layout = calibration.layout;
    const auto& machine = calibration.machine;
    const auto paths = offered_paths(DataPlace::host, layout, machine);
    const auto ranking = rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::all, paths);
    return join(strategies_for_trial(ranking, kind), ";");
  });
  if (names.empty())
    calibration.not_measured(fmt::format("held_out '{}': no strategy has several stages here", kind.name));
  else trials.add_planned(kind.name, pattern, split(names, ';'), part_of);
}

/// Large messages between all nodes, and between two nodes alone.
void add_parts_of_network(Calibration& calibration, ExchangeTrials& trials) {
  constexpr int nodes_of_part = 2;
  const auto& layout = calibration.layout;
  if (layout.nodes() <= nodes_of_part) return;
  std::mt19937_64 random(3);
  constexpr Kind whole{.name = "large between all nodes"}, part{.name = "large between two nodes"};
  add_planned(calibration, trials, whole, draw_between_nodes(layout, layout.nodes(), random));
  add_planned(calibration, trials, part, draw_between_nodes(layout, nodes_of_part, random), whole.name);
}

void add_all_to_all(Calibration& calibration, ExchangeTrials& trials) {
  const auto& layout = calibration.layout;
  constexpr const char* name = "all-to-all called once";
  constexpr int ranks_max = 512;  // every rank draws a quarter of a million blocks
  if (layout.ranks() > ranks_max)
    return calibration.not_measured(
        fmt::format("held_out '{}': {} ranks are more than {}", name, layout.ranks(), ranks_max));
  const auto pattern = draw_all_to_all(layout.ranks());
  const auto blocks = random_pattern(totals_of(pattern, layout), layout);
  const auto strategy = found_by_rank_0(calibration.comm.get(), [&] {
    return to_string(as_run(rank_one_shot(blocks, layout, calibration.machine).front()));
  });
  trials.add_called_once(name, pattern, strategy, [blocks, strategy, &layout](const Machine& machine) {
    return price_one_shot(parse_strategy(strategy), blocks, layout, machine).cost.seconds;
  });
}

void add_sparse(Calibration& calibration, ExchangeTrials& trials) {
  const auto pattern = draw_sparse(calibration.layout.ranks());
  const auto strategy = found_by_rank_0(calibration.comm.get(), [&] {
    const auto traffic = traffic_of(pattern, calibration.layout);
    return to_string(SparseChoice(calibration.layout, calibration.machine, false).best(traffic).strategy);
  });
  trials.add_sparse("sparse", pattern, strategy);
}

/// Forgets the receivers' parameters of a level, and why its further messages were not measured.
void forget_further_messages(Calibration& calibration, Level level) {
  const auto place = calibration.host_key(level, "");
  std::erase_if(calibration.provenance.not_measured, [&](const std::string& what) {
    return what.starts_with(place) &&
           (what.find(": alpha_next_s") != std::string::npos || what.find(": alpha_receive_s") != std::string::npos);
  });
  for (auto& protocol : calibration.channel(level).protocols) {
    protocol.alpha_receive_s.reset();
    protocol.beta_receive_s_per_byte.reset();
  }
}

/// Measures further messages again on the level that explains most of the error. Keeps the result that predicts better.
void measure_again(Calibration& calibration, ExchangeTrials& trials) {
  constexpr double good_miss = 0.15, percent = 100;
  const double before = median_miss(trials.results()), spent = calibration.sampler.agreed_spent();
  if (before <= good_miss || calibration.sampler.has_spent(1)) return;
  int place = static_cast<int>(trials.where_most_is_missed());
  COMMPASS_MPI_CALL(MPI_Bcast, &place, 1, MPI_INT, 0, calibration.comm.get());
  const auto level = static_cast<Level>(place);
  calibration.progress(
      fmt::format("held-out exchanges are off by {:.1f} %: measuring further messages of levels.{}.host again",
                  percent * before, calibration.name_of(level)));
  const auto found = calibration.machine;
  const auto not_measured = calibration.provenance.not_measured;
  forget_further_messages(calibration, level);
  const Share rest{spent, 1};
  double after = before;
  try {
    measure_bursts(calibration, level, {rest.begin, rest.middle()});
    measure_receiving(calibration, level, {rest.middle(), rest.end});
    trials.price_again();
    after = median_miss(trials.results());
  } catch (const NoTimeLeft&) {  // the first result is kept
  }
  const bool is_better = after < before;
  if (!is_better) {
    calibration.machine = found;
    calibration.provenance.not_measured = not_measured;
    trials.price_again();
  }
  calibration.provenance.measured_again = fmt::format(
      "further messages of levels.{}.host, since held-out exchanges were off by {:.1f} %: {:.1f} % with the "
      "parameters found then, {}",
      calibration.name_of(level), percent * before, percent * after,
      is_better ? "which were taken" : "so the first were kept");
}

}  // namespace

void check_held_out(Calibration& calibration) {
  calibration.progress("held-out exchanges");
  if (!calibration.provenance.warning.empty())
    return calibration.not_measured("held_out: " + calibration.provenance.warning);
  ExchangeTrials trials(calibration);
  std::mt19937_64 random(2);
  for (const auto& kind : kinds)
    add_planned(calibration, trials, kind, draw_pattern(kind, calibration.layout.ranks(), random));
  add_parts_of_network(calibration, trials);
  add_all_to_all(calibration, trials);
  add_sparse(calibration, trials);
  trials.price_again();
  trials.time(held_out_share.end);
  measure_again(calibration, trials);
  calibration.provenance.held_out = trials.results();
}

}  // namespace commpass
