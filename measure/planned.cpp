// Measures exchanges that are planned once, strategy by strategy.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "measure/pattern_data.hpp"
#include "measure/time_exchanges.hpp"
#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/explain.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

namespace {

/// The edges as messages of the plain loop, whose counts are ints.
template <class Edge>
std::vector<NeighborMessage> messages_of(const std::vector<Edge>& edges, Rank Edge::*peer, std::byte* buffer) {
  std::vector<NeighborMessage> messages;
  for (const auto& edge : edges) {
    if (edge.bytes > std::numeric_limits<int>::max())
      throw InputError("--baseline", fmt::format("an edge has {} bytes", edge.bytes),
                       "leave it out for edges of 2^31 bytes and more");
    messages.push_back({edge.*peer, buffer + edge.offset, edge.bytes});
  }
  return messages;
}

/// The median time of a plan, from a common start until the last rank has it.
Seconds time_plan(const std::function<Exchange()>& plan) {
  constexpr int repetitions = 7;
  std::vector<Seconds> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(time_exchange(MPI_COMM_WORLD, [&] { plan(); }));
  return median(std::move(times));
}

/// The strategies to run: the ranking, then those without a price, then baselines.
struct Agenda {
  std::vector<Candidate> candidates;  ///< on rank 0
  std::size_t priced = 0;             ///< number of the first candidates, which have a price
  std::vector<NotPriced> not_priced;  ///< on rank 0: that cannot be run here
  std::vector<ReportRow> baselines;   ///< on rank 0: those that are not among the candidates
  std::vector<std::string> names;     ///< on every rank, of the candidates, then of the baselines
};

std::vector<ReportRow> missing_baselines(const Measurement& measurement, const Pattern& pattern,
                                         const Communicator& communicator, std::span<const Candidate> candidates) {
  std::vector<ReportRow> rows;
  const auto& machine = communicator.machine();
  for (const auto& baseline : baselines()) {
    const auto& strategy = baseline.strategy;
    if (std::ranges::find(candidates, strategy, &Candidate::strategy) != candidates.end()) continue;
    if (strategy.route == "mpi" && !NeighborhoodCollective::is_available()) continue;
    const bool has_price = lacking(strategy, machine, measurement.model).empty();
    ReportRow row{{.strategy = strategy, .cost = {}}, {}, has_price, {}};
    if (has_price)
      row.candidate = price(strategy, pattern, communicator.layout(), machine, measurement.model,
                            measurement.arguments.selection.calls);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Adds the strategy of the lowest price and standard through memory of a node, which have no price.
void add_shared(Agenda& agenda) {
  for (const auto& strategy : {agenda.candidates.front().strategy, parse_strategy("standard")}) {
    const auto shared = through_node_memory(strategy);
    if (shared && std::ranges::find(agenda.candidates, *shared, &Candidate::strategy) == agenda.candidates.end())
      agenda.candidates.push_back({.strategy = *shared, .cost = {}});
  }
}

Agenda make_agenda(const Measurement& measurement, const Pattern& pattern, const Communicator& communicator) {
  Agenda agenda;
  std::string names;
  all_or_none(MPI_COMM_WORLD, [&] {
    if (rank_in(MPI_COMM_WORLD) != 0) return;
    const auto& machine = communicator.machine();
    auto strategies = measurement.planned;
    const auto has_price = [&](const Strategy& strategy) {
      return lacking(strategy, machine, measurement.model).empty();
    };
    const auto end = std::stable_partition(strategies.begin(), strategies.end(), has_price);
    const std::span priced(strategies.begin(), end), unpriced(end, strategies.end());
    const auto paths = paths_of_host_data(communicator.layout(), machine);
    if (!priced.empty() || unpriced.empty())
      agenda.candidates = rank_named(
          priced,
          [&](std::span<const Strategy> some) {
            return rank_strategies(pattern, communicator.layout(), machine, measurement.model, some,
                                   measurement.arguments.selection.calls, RankingDepth::all, paths);
          },
          agenda.not_priced);
    agenda.priced = agenda.candidates.size();
    for (const auto& strategy : unpriced) agenda.candidates.push_back({.strategy = strategy, .cost = {}});
    if (strategies.empty() && may_share_memory() && communicator.layout().max_ppn() > 1) add_shared(agenda);
    agenda.baselines = missing_baselines(measurement, pattern, communicator, agenda.candidates);
    std::vector<std::string> all;
    for (const auto& candidate : agenda.candidates) all.push_back(to_string(as_run(candidate)));
    for (const auto& baseline : agenda.baselines) all.push_back(to_string(as_run(baseline.candidate)));
    names = join(all, ";");
  });
  agenda.names = split(broadcast(MPI_COMM_WORLD, names), ';');
  return agenda;
}

/// In the order of the agenda.
struct Times {
  std::vector<RunTimes> runs;
  std::vector<Seconds> plans;  ///< medians; empty without --calls
  std::optional<Seconds> plain_loop_s;
};

Times run(const Measurement& measurement, const Pattern& pattern, Communicator& communicator,
          const std::vector<std::string>& names) {
  const auto& arguments = measurement.arguments;
  const Rank rank = rank_in(MPI_COMM_WORLD);
  auto data = data_of(pattern, rank);
  fill(data);
  Times times;
  const auto clear = [&] { std::ranges::fill(data.receive_buffer, std::byte{0}); };
  const auto check = [&](const std::string& name) {
    if (arguments.verify) agree(MPI_COMM_WORLD, verify(data, rank, name));
  };
  const bool runs_once = arguments.repetitions == 1;
  std::vector<Exchange> exchanges;
  for (const auto& name : names) {
    ExchangeOptions options{name, measurement.model};
    options.anew = true;  // so that its planning can be timed
    const auto plan = [&] {
      return communicator.neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(),
                                            data.receives, options);
    };
    exchanges.push_back(plan());
    if (arguments.selection.calls) times.plans.push_back(time_plan(plan));
    if (runs_once) continue;
    clear();
    exchanges.back().start();  // a warm-up, too
    exchanges.back().wait();
    check(name);
  }
  std::vector<TimedExchange> runs;
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    runs.push_back(timed(exchanges[i], data.send_buffer));
    if (!runs_once) continue;
    runs.back().prepare = clear;
    runs.back().check = [&, i] { check(names[i]); };
  }
  std::vector<NeighborMessage> receives, sends;
  if (arguments.baseline) {
    all_or_none(MPI_COMM_WORLD, [&] {
      receives = messages_of(data.receives, &ReceiveEdge::source, data.receive_buffer.data());
      sends = messages_of(data.sends, &SendEdge::destination, data.send_buffer.data());
    });
    if (!runs_once) run_plain_loop(receives, sends);
    runs.push_back({[&] { run_plain_loop(receives, sends); }, data.send_buffer});
  }
  times.runs = time_exchanges(runs, WarmUp::none, measurement);
  if (arguments.baseline) {
    times.plain_loop_s = times.runs.back().median;
    times.runs.pop_back();
  }
  return times;
}

std::string explain_one(const Measurement& measurement, const Pattern& pattern, const Communicator& communicator,
                        std::span<const Candidate> priced, const Ties& ties) {
  const auto& selection = measurement.arguments.selection;
  auto strategy = parse_strategy(selection.explain);
  if (is_automatic(strategy))
    strategy =
        price(strategy, pattern, communicator.layout(), communicator.machine(), measurement.model, selection.calls)
            .strategy;
  const auto found = std::ranges::find(priced, strategy, &Candidate::strategy);
  if (found == priced.end()) return {};
  return explain(priced, at(found - priced.begin()), selection.calls, ties);
}

}  // namespace

PlannedReport measure_planned(const Measurement& measurement, const Pattern& pattern) {
  Communicator communicator(MPI_COMM_WORLD, measurement.machine, {measurement.layout});
  auto agenda = make_agenda(measurement, pattern, communicator);
  const auto times = run(measurement, pattern, communicator, agenda.names);
  if (rank_in(MPI_COMM_WORLD) != 0) return {};

  const auto& calls = measurement.arguments.selection.calls;
  PlannedReport result;
  auto& report = result.report;
  report.context = {{"profile", communicator.machine().name},
                    {"layout", communicator.layout().describe()},
                    {"ranks", std::to_string(pattern.ranks)},
                    {"model", name_of(measurement.model)},
                    {"verified", measurement.arguments.verify ? "every byte of every strategy" : "no (add --verify)"}};
  if (calls) report.context.emplace_back("calls", fmt::format("{}", *calls));
  report.chosen = to_string(agenda.candidates.front().strategy);
  report.calls = calls;
  report.baseline_s = times.plain_loop_s;
  report.not_priced = std::move(agenda.not_priced);
  const auto priced = std::span(agenda.candidates).first(agenda.priced);
  report.ties = find_ties(priced, uncertainty_of(communicator.machine()), calls);
  if (!measurement.arguments.selection.explain.empty())
    result.explanation = explain_one(measurement, pattern, communicator, priced, report.ties);
  const auto plan_of = [&](std::size_t i) { return calls ? std::optional(times.plans[i]) : std::nullopt; };
  for (std::size_t i = 0; i < agenda.candidates.size(); ++i)
    report.rows.push_back({std::move(agenda.candidates[i]), times.runs[i].median, i < agenda.priced, plan_of(i),
                           times.runs[i].mean, times.runs[i].percentile_99});
  for (auto& baseline : agenda.baselines) {
    const auto i = report.rows.size() + report.baselines.size();
    baseline.measured_s = times.runs[i].median;
    baseline.measured_plan_s = plan_of(i);
    baseline.measured_mean_s = times.runs[i].mean;
    baseline.measured_percentile_99_s = times.runs[i].percentile_99;
    report.baselines.push_back(std::move(baseline));
  }
  return result;
}

}  // namespace commpass
