// commpass measure: runs strategies on real ranks, checks every byte, and compares with the prediction.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>

#include "measure/one_shot.hpp"
#include "measure/pattern_data.hpp"
#include "measure/sparse.hpp"
#include "measure/time_exchanges.hpp"
#include "model/error.hpp"
#include "model/machine/profile.hpp"
#include "model/median.hpp"
#include "model/text.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/host_names.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi_program.hpp"
#include "runtime/time_exchange.hpp"
#include "selector/choose/offer.hpp"
#include "selector/commands/arguments.hpp"
#include "selector/report/profile_origin.hpp"
#include "selector/report/report.hpp"

namespace commpass {
namespace {

struct Arguments {
  PatternArguments pattern;
  SelectionArguments selection;
  int repetitions = 0;
  bool verify = false;
  bool baseline = false;
  std::string sparse;     ///< constant or variable; empty: the exchange is known on both sides
  bool one_shot = false;  ///< as an all-to-all that is run once, with sizes that are new each time
  bool alltoall = false;  ///< and with equal blocks, as all ranks know
  std::string progress;
};

/// The plain loop takes no edge beyond what one MPI count stands for.
int count_of(Bytes bytes) {
  if (bytes > std::numeric_limits<int>::max())
    throw InputError("--baseline", fmt::format("an edge has {} bytes", bytes),
                     "leave it out for edges of 2^31 bytes and more");
  return static_cast<int>(bytes);
}

/// What MPI libraries do for a neighbourhood collective: receive from all and send to all, without blocking, in order.
void linear_exchange(RankData& data) {
  constexpr int tag = 1;
  std::vector<MPI_Request> requests;
  requests.reserve(data.sends.size() + data.receives.size());
  for (const auto& edge : data.receives)
    COMMPASS_MPI_CALL(MPI_Irecv, data.receive_buffer.data() + edge.offset, count_of(edge.bytes), MPI_BYTE, edge.source,
                      tag, MPI_COMM_WORLD, &requests.emplace_back());
  for (const auto& edge : data.sends)
    COMMPASS_MPI_CALL(MPI_Isend, data.send_buffer.data() + edge.offset, count_of(edge.bytes), MPI_BYTE,
                      edge.destination, tag, MPI_COMM_WORLD, &requests.emplace_back());
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// One plan, from a common start until the last rank has it.
Seconds time_plan(const std::function<Exchange()>& plan) {
  constexpr int repetitions = 7;
  std::vector<Seconds> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(time_exchange(MPI_COMM_WORLD, [&] { plan(); }));
  return median(std::move(times));
}

void measure(const Arguments& arguments) {
  const Rank rank = rank_in(MPI_COMM_WORLD);
  const int ranks = ranks_in(MPI_COMM_WORLD);
  const auto& selection = arguments.selection;
  Environment environment;
  CostModel model{};
  std::vector<Strategy> strategies;
  std::optional<Layout> layout;
  std::string profile_json, warning;
  bool shown = false;
  const auto hosts = host_names(MPI_COMM_WORLD);
  all_or_none(MPI_COMM_WORLD, [&] {
    environment = read_environment();
    model = selection.cost_model();
    if (arguments.sparse.empty() && !arguments.one_shot) strategies = selection.named_strategies();
    layout = selection.layout.find(ranks, environment);
    shown = rank == 0 &&
            show_progress(arguments.progress.empty() ? environment.progress : parse_progress(arguments.progress));
    if (rank == 0) {
      const auto found = read_profile(selection.find_profile(environment));
      warning = provenance_warning(found, mpi_library(), hosts);
      profile_json = to_json(found);
    }
    if (arguments.repetitions < 0) throw InputError("--repetitions", "it is negative", "use 1 or more");
  });
  const auto pattern = read_together(arguments.pattern, rank, ranks);
  const auto machine = parse_profile(broadcast(MPI_COMM_WORLD, profile_json), "profile of rank 0").machine;
  if (!arguments.sparse.empty() || arguments.one_shot) {
    auto report = arguments.one_shot
                      ? measure_one_shot({machine, layout, selection.strategy_names(), arguments.repetitions,
                                          arguments.alltoall ? BlockSizes::equal : BlockSizes::told, shown},
                                         pattern)
                      : measure_sparse({machine, layout, arguments.sparse == "constant", selection.strategy_names(),
                                        arguments.repetitions, shown},
                                       pattern);
    if (rank != 0) return;
    if (!warning.empty()) std::fputs(("commpass: " + warning + "\n").c_str(), stderr);
    report.context.emplace_back("pattern", arguments.pattern.describe());
    fmt::print("{}", selection.json ? call_report_json(report) : call_report_table(report));
    return;
  }
  Communicator communicator(MPI_COMM_WORLD, machine, {layout});

  // Rank 0 decides what is run, in which order.
  std::vector<Candidate> ranking;
  std::size_t priced = 0;
  std::string names;
  all_or_none(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    const auto has_price = [&](const Strategy& strategy) {
      return lacking(strategy, communicator.machine(), model).empty();
    };
    const auto end = std::stable_partition(strategies.begin(), strategies.end(), has_price);
    const std::span given(strategies.begin(), end), unpriced(end, strategies.end());
    if (!given.empty() || unpriced.empty())
      ranking = rank_strategies(pattern, communicator.layout(), communicator.machine(), model, given, selection.calls);
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
    const auto plan = [&] {
      return communicator.neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(),
                                            data.receives, {name, model});
    };
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
  auto times = time_exchanges(runs, true, arguments.repetitions, shown);
  if (rank != 0) return;

  if (!warning.empty()) std::fputs(("commpass: " + warning + "\n").c_str(), stderr);
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
    auto strategy = parse_strategy(selection.explain);
    if (is_automatic(strategy))
      strategy =
          price(strategy, pattern, communicator.layout(), communicator.machine(), model, selection.calls).strategy;
    const auto found = std::ranges::find(explained, strategy, &Candidate::strategy);
    if (found != explained.end())
      explanation = explain(explained, static_cast<std::size_t>(found - explained.begin()), selection.calls);
  }
  for (std::size_t i = 0; i < ranking.size(); ++i)
    report.rows.push_back(
        {std::move(ranking[i]), times[i], i < priced, selection.calls ? std::optional(plan_times[i]) : std::nullopt});
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
  app.add_option("--repetitions", arguments.repetitions,
                 "exchanges to time, each strategy (default: 5 seconds for all, at least 7)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--verify", arguments.verify, "check every byte of every strategy first");
  app.add_flag("--baseline", arguments.baseline, "also time the plain loop over all neighbours that MPI libraries run");
  auto* one_shot = app.add_flag(
      "--one-shot", arguments.one_shot,
      "run it as an all-to-all that is called once, with sizes that are new each time, beside MPI_Alltoallv");
  app.add_flag("--alltoall", arguments.alltoall,
               "with --one-shot: all blocks are equal, as all ranks know, beside MPI_Alltoall")
      ->needs(one_shot);
  app.add_option("--sparse", arguments.sparse,
                 "run it as a sparse dynamic data exchange, whose receivers know nothing, with messages of one size "
                 "(constant) or of any (variable); strategies are those of such exchanges")
      ->check(CLI::IsMember({"constant", "variable"}))
      ->excludes(one_shot);
  app.add_option("--progress", arguments.progress, "auto, always or never");
  app.footer(commpass::catalogue_help());
  return commpass::run_mpi_command(app, argc, argv, [&] { commpass::measure(arguments); });
}
