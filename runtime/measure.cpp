// commpass measure: runs strategies on real ranks, checks every byte, and compares with the prediction.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>

#include "model/error.hpp"
#include "model/profile.hpp"
#include "model/statistics.hpp"
#include "model/text.hpp"
#include "runtime/agreement.hpp"
#include "runtime/communicator.hpp"
#include "runtime/gather_pattern.hpp"
#include "runtime/host_names.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/mpi_library.hpp"
#include "runtime/mpi_program.hpp"
#include "runtime/rank_data.hpp"
#include "runtime/time_exchange.hpp"
#include "selector/arguments.hpp"
#include "selector/offer.hpp"
#include "selector/provenance.hpp"
#include "selector/report.hpp"

namespace commpass {
namespace {

struct Arguments {
  PatternArguments pattern;
  SelectionArguments selection;
  int repetitions = 0;
  bool verify = false;
  bool baseline = false;
  std::string progress;
};

/// A byte that no edge with other bytes has at this place: a counter, scrambled with what tells the bytes apart.
std::byte byte_of(std::size_t content, std::size_t position) {
  constexpr std::uint64_t a = 0x9E3779B97F4A7C15U, b = 0xBF58476D1CE4E5B9U;  // SplitMix64
  std::uint64_t mixed = (content * b + position) * a;
  mixed = (mixed ^ mixed >> 30) * b;
  return static_cast<std::byte>(mixed >> 56);
}

void fill(RankData& data) {
  for (std::size_t e = 0; e < data.sends.size(); ++e)
    for (std::size_t i = 0; i < static_cast<std::size_t>(data.sends[e].bytes); ++i)
      data.send_buffer[static_cast<std::size_t>(data.sends[e].offset) + i] = byte_of(data.sent[e], i);
}

/// @return a sentence about the first wrong byte, or nothing
std::string verify(const RankData& data, Rank rank, const std::string& strategy) {
  for (std::size_t e = 0; e < data.receives.size(); ++e) {
    const auto& edge = data.receives[e];
    for (std::size_t i = 0; i < static_cast<std::size_t>(edge.bytes); ++i)
      if (data.receive_buffer[static_cast<std::size_t>(edge.offset) + i] != byte_of(data.received[e], i))
        return fmt::format("strategy {}: byte {} of the {} that rank {} sends to rank {} is wrong; please report this.", strategy, i, edge.bytes, edge.source, rank);
  }
  return {};
}

/// The pattern that rank 0 reads, on every rank.
Pattern read_together(const PatternArguments& arguments, Rank rank, int ranks) {
  Pattern pattern;
  together(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    pattern = arguments.load(ranks);
    if (pattern.ranks != ranks)
      throw InputError("pattern", fmt::format("it has {} ranks but mpirun started {}", pattern.ranks, ranks), fmt::format("run 'mpirun -n {} commpass measure …'", pattern.ranks));
  });
  share_pattern(MPI_COMM_WORLD, pattern);
  return pattern;
}

/// The plain loop takes no edge beyond what one MPI count stands for.
int count_of(Bytes bytes) {
  if (bytes > std::numeric_limits<int>::max()) throw InputError("--baseline", fmt::format("an edge has {} bytes", bytes), "leave it out for edges of 2^31 bytes and more");
  return static_cast<int>(bytes);
}

/// What MPI libraries do for a neighbourhood collective: receive from all and send to all, without blocking, in order.
void linear_exchange(RankData& data) {
  constexpr int tag = 1;
  std::vector<MPI_Request> requests;
  requests.reserve(data.sends.size() + data.receives.size());
  for (const auto& edge : data.receives)
    COMMPASS_MPI_CALL(MPI_Irecv, data.receive_buffer.data() + edge.offset, count_of(edge.bytes), MPI_BYTE, edge.source, tag, MPI_COMM_WORLD, &requests.emplace_back());
  for (const auto& edge : data.sends)
    COMMPASS_MPI_CALL(MPI_Isend, data.send_buffer.data() + edge.offset, count_of(edge.bytes), MPI_BYTE, edge.destination, tag, MPI_COMM_WORLD, &requests.emplace_back());
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// Times all candidates in turn, each round in another order, so that a disturbance hits all alike.
std::vector<Seconds> time_all(const std::vector<std::function<void()>>& exchanges, int repetitions, bool shown) {
  std::vector<std::vector<Seconds>> times(exchanges.size());
  std::vector<std::size_t> order(exchanges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(1);  // the same on every rank
  for (const auto& exchange : exchanges) time_exchange(MPI_COMM_WORLD, exchange);  // warm-up
  const double begin = MPI_Wtime();
  // Unless told: enough to see a median, but not for ever.
  constexpr int least = 7, most = 201;
  constexpr Seconds long_enough_s = 5;
  for (int round = 0; repetitions > 0 ? round < repetitions : round < most; ++round) {
    std::ranges::shuffle(order, random);
    for (const auto i : order) times[i].push_back(time_exchange(MPI_COMM_WORLD, exchanges[i]));
    int over = MPI_Wtime() - begin > long_enough_s;
    COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (shown && round % 50 == 0) fmt::print(stderr, "round {} …\n", round + 1);
    if (repetitions == 0 && round + 1 >= least && over) break;
  }
  std::vector<Seconds> result;
  for (auto& series : times) result.push_back(median(std::move(series)));
  return result;
}

/// One plan, from a common start until the last rank has it.
Seconds time_plan(const std::function<Exchange()>& plan) {
  constexpr int repetitions = 7;
  std::vector<Seconds> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(time_exchange(MPI_COMM_WORLD, [&] { plan(); }));
  return median(std::move(times));
}

void measure(const Arguments& arguments) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto& selection = arguments.selection;
  Environment environment;
  CostModel model{};
  std::vector<Strategy> strategies;
  std::optional<Layout> layout;
  std::string profile_json, warning;
  bool shown = false;
  const auto hosts = host_names(MPI_COMM_WORLD);
  together(MPI_COMM_WORLD, [&] {
    environment = read_environment();
    model = selection.cost_model();
    strategies = selection.named_strategies();
    layout = selection.layout.find(ranks, environment);
    shown = rank == 0 && show_progress(arguments.progress.empty() ? environment.progress : parse_progress(arguments.progress));
    if (rank == 0) {
      const auto found = read_profile(selection.find_profile(environment));
      warning = provenance_warning(found, mpi_library(), hosts);
      profile_json = to_json(found);
    }
    if (arguments.repetitions < 0) throw InputError("--repetitions", "it is negative", "use 1 or more");
  });
  const auto pattern = read_together(arguments.pattern, rank, ranks);
  const auto machine = parse_profile(broadcast(MPI_COMM_WORLD, profile_json), "profile of rank 0").machine;
  Communicator communicator(MPI_COMM_WORLD, machine, {layout});

  // Rank 0 decides what is run, in which order.
  std::vector<Candidate> ranking;
  std::size_t priced = 0;
  std::string names;
  together(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    const auto has_price = [&](const Strategy& strategy) { return lacking(strategy, communicator.machine(), model).empty(); };
    const auto end = std::stable_partition(strategies.begin(), strategies.end(), has_price);
    const std::span given(strategies.begin(), end), unpriced(end, strategies.end());
    if (!given.empty() || unpriced.empty()) ranking = rank_strategies(pattern, communicator.layout(), communicator.machine(), model, given, selection.calls);
    priced = ranking.size();
    for (const auto& strategy : unpriced) ranking.push_back({.strategy = strategy, .cost = {}});
    for (const auto& candidate : ranking) names += (names.empty() ? "" : ";") + to_string(candidate.strategy);
  });
  names = broadcast(MPI_COMM_WORLD, names);

  auto data = data_of(pattern, rank);
  fill(data);
  std::vector<Exchange> exchanges;
  std::vector<Seconds> plan_times;
  for (const auto& name : split(names, ';')) {
    const auto plan = [&] { return communicator.neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(), data.receives, {name, model}); };
    exchanges.push_back(plan());
    if (selection.calls) plan_times.push_back(time_plan(plan));
    if (!arguments.verify) continue;
    std::ranges::fill(data.receive_buffer, std::byte{0});
    exchanges.back().start();
    exchanges.back().wait();
    agree(MPI_COMM_WORLD, verify(data, rank, name));
  }
  std::vector<std::function<void()>> runs;
  for (auto& exchange : exchanges)
    runs.emplace_back([&exchange] {
      exchange.start();
      exchange.wait();
    });
  if (arguments.baseline) runs.emplace_back([&data] { linear_exchange(data); });
  auto times = time_all(runs, arguments.repetitions, shown);
  if (rank != 0) return;

  if (!warning.empty()) fmt::print(stderr, "commpass: {}\n", warning);
  Report report;
  report.context = {{"profile", communicator.machine().name},
                    {"layout", communicator.layout().describe()},
                    {"ranks", std::to_string(ranks)},
                    {"pattern", arguments.pattern.describe()},
                    {"model", name_of(model)},
                    {"memory", selection.memory},
                    {"verified", arguments.verify ? "every byte of every strategy" : "no (add --verify)"}};
  if (selection.calls) report.context.emplace_back("calls", fmt::format("{}", *selection.calls));
  report.chosen = to_string(ranking.front().strategy);
  if (arguments.baseline) {
    report.baseline_s = times.back();
    times.pop_back();
  }
  std::vector<Seconds> costs = times;
  if (selection.calls)
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = plan_times[i] + *selection.calls * times[i];
  const auto least = std::ranges::min(costs);
  report.regret = least > 0 ? costs.front() / least : 1;
  std::string explanation;
  if (!selection.explain.empty()) {
    const auto explained = std::span(ranking).first(priced);
    const auto found = std::ranges::find(explained, parse_strategy(selection.explain), &Candidate::strategy);
    if (found != explained.end()) explanation = explain(explained, static_cast<std::size_t>(found - explained.begin()), selection.calls);
  }
  for (std::size_t i = 0; i < ranking.size(); ++i)
    report.rows.push_back({std::move(ranking[i]), times[i], i < priced, selection.calls ? std::optional(plan_times[i]) : std::nullopt});
  selection.print(report, explanation);
}

}  // namespace
}  // namespace commpass

int main(int argc, char** argv) {
  commpass::Arguments arguments;
  CLI::App app{"Runs strategies on real ranks and compares with the prediction: mpirun -n N commpass measure …"};
  app.name("commpass measure");
  arguments.pattern.add_to(app);
  arguments.selection.add_to(app);
  app.add_option("--repetitions", arguments.repetitions, "exchanges to time, each strategy (default: 5 seconds for all, at least 7)")->check(CLI::PositiveNumber);
  app.add_flag("--verify", arguments.verify, "check every byte of every strategy first");
  app.add_flag("--baseline", arguments.baseline, "also time the plain loop over all neighbours that MPI libraries run");
  app.add_option("--progress", arguments.progress, "auto, always or never");
  app.footer(commpass::catalogue_help());
  return commpass::run_mpi_command(app, argc, argv, [&] { commpass::measure(arguments); });
}
