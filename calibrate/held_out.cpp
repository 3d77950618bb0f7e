#include "calibrate/held_out.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "model/text.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/time_exchange.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

namespace {

constexpr Bytes kibi = 1 << 10;

struct Kind {
  const char* name;
  int messages;  ///< of each rank
  Bytes least, most;
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

}  // namespace

HeldOutTrials::HeldOutTrials(Calibration& calibration)
    : calibration_(calibration), communicator_(calibration.comm.get(), calibration.machine, {calibration.layout}) {
  add_neighbor_exchanges();
  add_parts_of_network();
  add_all_to_all();
  add_sparse_exchange();
  price_again();
}

void HeldOutTrials::add(HeldOut result, const Pattern& pattern, std::function<Seconds(const Machine&)> price,
                        std::function<void()> run) {
  auto& trial = trials_.emplace_back();
  trial.result = std::move(result);
  trial.price = std::move(price);
  trial.run = std::move(run);
  for (const auto& edge : pattern.edges) {
    if (edge.source == edge.destination) continue;
    const auto locality = calibration_.layout.locality(edge.source, edge.destination);
    trial.seconds_of[static_cast<std::size_t>(locality)] +=
        host_channel(calibration_.machine, locality).protocol(edge.bytes).next_seconds(static_cast<double>(edge.bytes));
  }
}

void HeldOutTrials::add_neighbor_exchange(const std::string& name, const Pattern& pattern, std::size_t least_stages,
                                          bool has_rivals, const std::string& part_of) {
  const MPI_Comm comm = calibration_.comm.get();
  std::string names;
  all_or_none(comm, [&] {
    if (calibration_.comm.rank() != 0) return;
    const auto ranking = rank_strategies(pattern, calibration_.layout, calibration_.machine);
    names = fmt::format("{}", fmt::join(strategies_for_trial(ranking, least_stages, has_rivals), ";"));
  });
  names = broadcast(comm, names);
  if (names.empty()) {
    calibration_.not_measured(fmt::format("held_out '{}': no strategy has several stages here", name));
    return;
  }
  auto& mine = data_.emplace_back(data_of(pattern, calibration_.comm.rank()));
  for (const auto& strategy : split(names, ';')) {
    auto& exchange = exchanges_.emplace_back(communicator_.neighbor_exchange(
        mine.send_buffer.data(), mine.sends, mine.receive_buffer.data(), mine.receives, {strategy}));
    const auto price_it = [this, pattern, strategy](const Machine& machine) {
      return price(parse_strategy(strategy), pattern, calibration_.layout, machine).cost.seconds;
    };
    add({name, strategy, 0, 0, {}, part_of}, pattern, price_it, [&exchange] {
      exchange.start();
      exchange.wait();
    });
  }
}

void HeldOutTrials::add_neighbor_exchanges() {
  std::mt19937_64 random(2);
  for (const auto& kind : kinds)
    add_neighbor_exchange(kind.name, draw_pattern(kind, calibration_.layout.ranks(), random), kind.least_stages,
                          kind.has_rivals);
}

void HeldOutTrials::add_parts_of_network() {
  constexpr int part = 2;  // nodes, whose messages meet no others
  const auto& layout = calibration_.layout;
  if (layout.nodes() <= part) return;
  std::mt19937_64 random(3);
  constexpr auto* whole = "large between all nodes";
  add_neighbor_exchange(whole, draw_between_nodes(layout, layout.nodes(), random), 1, false);
  add_neighbor_exchange("large between two nodes", draw_between_nodes(layout, part, random), 1, false, whole);
}

void HeldOutTrials::time(double share) {
  constexpr int most_rounds = 40;  // sparse exchanges need not take as long twice, not even on a simulated cluster
  std::map<std::size_t, Series> times;
  for (std::size_t i = 0; i < trials_.size(); ++i) times[i];
  calibration_.sampler.sample_all(
      times, share,
      [&](std::size_t i, int, int repetitions) {
        Seconds sum = 0;
        for (int k = 0; k < repetitions; ++k) sum += time_exchange(calibration_.comm.get(), trials_[i].run);
        return sum / repetitions;
      },
      most_rounds);
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    trials_[i].result.measured_s = times[i].time();
    trials_[i].result.measured_interval_s = lower_quartile_interval(times[i].samples);
  }
}

void HeldOutTrials::price_again() {
  const MPI_Comm comm = calibration_.comm.get();
  std::vector<Seconds> prices(trials_.size());
  all_or_none(comm, [&] {
    if (calibration_.comm.rank() != 0) return;
    std::ranges::transform(trials_, prices.begin(),
                           [&](const HeldOutTrial& trial) { return trial.price(calibration_.machine); });
  });
  COMMPASS_MPI_CALL(MPI_Bcast, prices.data(), static_cast<int>(prices.size()), MPI_DOUBLE, 0, comm);
  for (std::size_t i = 0; i < trials_.size(); ++i) trials_[i].result.predicted_s = prices[i];
}

std::vector<HeldOut> HeldOutTrials::results() const {
  std::vector<HeldOut> results;
  for (const auto& trial : trials_) results.push_back(trial.result);
  return results;
}

Locality HeldOutTrials::where_most_is_missed() const {
  std::array<double, locality_count> missed{};
  for (const auto& trial : trials_) {
    Seconds all = 0;
    for (const auto seconds : trial.seconds_of) all += seconds;
    if (!(all > 0)) continue;
    const double off = std::abs(std::log(trial.result.predicted_s / trial.result.measured_s));
    for (std::size_t i = 0; i < locality_count; ++i) missed[i] += off * trial.seconds_of[i] / all;
  }
  return static_cast<Locality>(std::ranges::max_element(missed) - missed.begin());
}

}  // namespace commpass
