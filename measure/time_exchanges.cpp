#include "measure/time_exchanges.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "model/median.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/time_exchange.hpp"

namespace commpass {

namespace {

RunTimes run_times_of(std::vector<Seconds> seconds) {
  std::ranges::sort(seconds);
  constexpr double part = 0.99;
  const auto count = static_cast<double>(seconds.size());
  return {median(seconds), std::accumulate(seconds.begin(), seconds.end(), 0.0) / count,
          seconds[static_cast<std::size_t>(std::ceil(part * count)) - 1]};
}

}  // namespace

std::vector<Seconds> time_exchanges(const std::vector<TimedExchange>& exchanges, WarmUp warm_up, int repetitions,
                                    bool shown) {
  std::vector<Seconds> medians;
  for (const auto& times : time_runs(exchanges, warm_up, repetitions, shown)) medians.push_back(times.median);
  return medians;
}

std::vector<RunTimes> time_runs(const std::vector<TimedExchange>& exchanges, WarmUp warm_up, int repetitions,
                                bool shown) {
  std::vector<std::vector<Seconds>> times(exchanges.size());
  std::vector<std::size_t> order(exchanges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(1);  // the same on every rank
  if (warm_up == WarmUp::once)
    for (const auto& exchange : exchanges) time_exchange(MPI_COMM_WORLD, exchange.run);
  const double begin = MPI_Wtime();
  // Unless told: enough to see a median, and longer than processors and caches take to get going, but not for ever.
  constexpr int least = 7, enough = 201;
  constexpr Seconds going_s = 0.2, long_enough_s = 5;
  for (int round = 0; repetitions == 0 || round < repetitions; ++round) {
    std::ranges::shuffle(order, random);
    for (const auto i : order) {
      if (warm_up == WarmUp::each_time) exchanges[i].run();
      times[i].push_back(time_exchange(MPI_COMM_WORLD, exchanges[i].run, exchanges[i].sent));
    }
    const Seconds elapsed = MPI_Wtime() - begin;
    int over = round + 1 >= (elapsed > long_enough_s ? least : enough) && elapsed > going_s;
    COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (shown && round % 50 == 0)
      std::fputs(fmt::format("round {} …\n", round + 1).c_str(), stderr);  // fmt::print may throw, on this rank alone
    if (repetitions == 0 && over) break;
  }
  std::vector<RunTimes> result;
  for (auto& series : times) result.push_back(run_times_of(std::move(series)));
  return result;
}

int calls_to_settle(int calls_to_know, PlannerMode planner) {
  // As many rounds as there are at most, of about as many strategies.
  constexpr int few = 51 * 6, all = 51 * 40;
  if (planner == PlannerMode::estimate) return calls_to_know;
  return calls_to_know + (planner == PlannerMode::patient ? all : few);
}

}  // namespace commpass
