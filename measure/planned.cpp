#include "measure/planned.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "measure/pattern_data.hpp"
#include "measure/time_exchanges.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/time_exchange.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/explain.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

namespace {

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

/// What rank 0 decides to run, in this order: the ranking, then what has no price.
struct Agenda {
  std::vector<Candidate> candidates;  ///< on rank 0
  std::size_t priced = 0;             ///< so many of them have a price
  std::vector<NotPriced> not_priced;  ///< on rank 0: that cannot be run here
  std::vector<ReportRow> baselines;   ///< on rank 0: what programs do today, where it is not among the candidates
  std::vector<std::string> names;     ///< on every rank, of the candidates, then of the baselines
};

std::vector<ReportRow> missing_baselines(const PlannedMeasurement& measurement, const Pattern& pattern,
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
      row.candidate = price(strategy, pattern, communicator.layout(), machine, measurement.model, measurement.calls);
    rows.push_back(std::move(row));
  }
  return rows;
}

Agenda make_agenda(const PlannedMeasurement& measurement, const Pattern& pattern, const Communicator& communicator) {
  Agenda agenda;
  std::string names;
  all_or_none(MPI_COMM_WORLD, [&] {
    if (rank_in(MPI_COMM_WORLD) != 0) return;
    const auto& machine = communicator.machine();
    auto strategies = measurement.strategies;
    const auto has_price = [&](const Strategy& strategy) {
      return lacking(strategy, machine, measurement.model).empty();
    };
    const auto end = std::stable_partition(strategies.begin(), strategies.end(), has_price);
    const std::span given(strategies.begin(), end), unpriced(end, strategies.end());
    if (!given.empty() || unpriced.empty())
      agenda.candidates = rank_named(
          given,
          [&](std::span<const Strategy> some) {
            return rank_strategies(pattern, communicator.layout(), machine, measurement.model, some, measurement.calls);
          },
          agenda.not_priced);
    agenda.priced = agenda.candidates.size();
    for (const auto& strategy : unpriced) agenda.candidates.push_back({.strategy = strategy, .cost = {}});
    agenda.baselines = missing_baselines(measurement, pattern, communicator, agenda.candidates);
    const auto add = [&](const Candidate& candidate) {
      if (!names.empty()) names += ';';
      names += to_string(as_run(candidate));
    };
    for (const auto& candidate : agenda.candidates) add(candidate);
    for (const auto& baseline : agenda.baselines) add(baseline.candidate);
  });
  agenda.names = split(broadcast(MPI_COMM_WORLD, names), ';');
  return agenda;
}

/// The medians of what was timed, in the order of the agenda.
struct Times {
  std::vector<Seconds> exchanges;
  std::vector<RunTimes> runs;  ///< of the same, with means and percentiles
  std::vector<Seconds> plans;  ///< empty where calls are not counted
  std::optional<Seconds> baseline_s;
};

Times run(const PlannedMeasurement& measurement, const Pattern& pattern, Communicator& communicator,
          const std::vector<std::string>& names) {
  const Rank rank = rank_in(MPI_COMM_WORLD);
  auto data = data_of(pattern, rank);
  fill(data);
  Times times;
  std::vector<Exchange> exchanges;
  for (const auto& name : names) {
    ExchangeOptions options{name, measurement.model};
    options.anew = true;  // so that its planning can be timed
    const auto plan = [&] {
      return communicator.neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(),
                                            data.receives, options);
    };
    exchanges.push_back(plan());
    if (measurement.calls) times.plans.push_back(time_plan(plan));
    if (!measurement.verified) continue;
    std::ranges::fill(data.receive_buffer, std::byte{0});
    exchanges.back().start();
    exchanges.back().wait();
    agree(MPI_COMM_WORLD, verify(data, rank, name));
  }
  std::vector<TimedExchange> runs;
  for (auto& exchange : exchanges)
    runs.push_back({[&exchange] {
                      exchange.start();
                      exchange.wait();
                    },
                    data.send_buffer});
  if (measurement.has_baseline) runs.push_back({[&data] { linear_exchange(data); }, data.send_buffer});
  times.runs = time_runs(runs, WarmUp::once, measurement.repetitions, measurement.shown);
  for (const auto& each : times.runs) times.exchanges.push_back(each.median);
  if (measurement.has_baseline) {
    times.baseline_s = times.exchanges.back();
    times.exchanges.pop_back();
  }
  return times;
}

/// Time of what was chosen ÷ time of the best; with their planning, where calls are counted.
double regret_of(const Times& times, const Calls& calls) {
  auto costs = times.exchanges;
  if (calls)
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = times.plans[i] + *calls * costs[i];
  const auto least = std::ranges::min(costs);
  return least > 0 ? costs.front() / least : 1;
}

std::string explain_one(const PlannedMeasurement& measurement, const Pattern& pattern, const Communicator& communicator,
                        const Agenda& agenda) {
  const auto priced = std::span(agenda.candidates).first(agenda.priced);
  auto strategy = parse_strategy(measurement.explained);
  if (is_automatic(strategy))
    strategy =
        price(strategy, pattern, communicator.layout(), communicator.machine(), measurement.model, measurement.calls)
            .strategy;
  const auto found = std::ranges::find(priced, strategy, &Candidate::strategy);
  if (found == priced.end()) return {};
  return explain(priced, static_cast<std::size_t>(found - priced.begin()), measurement.calls,
                 find_ties(priced, uncertainty_of(communicator.machine()), measurement.calls));
}

}  // namespace

PlannedReport measure_planned(const PlannedMeasurement& measurement, const Pattern& pattern) {
  Communicator communicator(MPI_COMM_WORLD, measurement.machine, {measurement.layout});
  auto agenda = make_agenda(measurement, pattern, communicator);
  const auto times = run(measurement, pattern, communicator, agenda.names);
  if (rank_in(MPI_COMM_WORLD) != 0) return {};

  PlannedReport result;
  auto& report = result.report;
  report.context = {{"profile", communicator.machine().name},
                    {"layout", communicator.layout().describe()},
                    {"ranks", std::to_string(pattern.ranks)},
                    {"model", name_of(measurement.model)},
                    {"verified", measurement.verified ? "every byte of every strategy" : "no (add --verify)"}};
  if (measurement.calls) report.context.emplace_back("calls", fmt::format("{}", *measurement.calls));
  report.chosen = to_string(agenda.candidates.front().strategy);
  report.baseline_s = times.baseline_s;
  report.not_priced = std::move(agenda.not_priced);
  report.regret = regret_of(times, measurement.calls);
  report.ties = find_ties(std::span(agenda.candidates).first(agenda.priced), uncertainty_of(communicator.machine()),
                          measurement.calls);
  if (!measurement.explained.empty()) result.explanation = explain_one(measurement, pattern, communicator, agenda);
  const auto plan_of = [&](std::size_t i) { return measurement.calls ? std::optional(times.plans[i]) : std::nullopt; };
  for (std::size_t i = 0; i < agenda.candidates.size(); ++i)
    report.rows.push_back({std::move(agenda.candidates[i]), times.exchanges[i], i < agenda.priced, plan_of(i),
                           times.runs[i].mean, times.runs[i].percentile_99});
  for (auto& baseline : agenda.baselines) {
    const auto i = report.rows.size() + report.baselines.size();
    baseline.measured_s = times.exchanges[i];
    baseline.measured_plan_s = plan_of(i);
    baseline.measured_mean_s = times.runs[i].mean;
    baseline.measured_percentile_99_s = times.runs[i].percentile_99;
    report.baselines.push_back(std::move(baseline));
  }
  return result;
}

}  // namespace commpass
