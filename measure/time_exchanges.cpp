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
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

namespace {

RunTimes run_times_of(std::vector<Seconds> seconds) {
  std::ranges::sort(seconds);
  constexpr double quantile = 0.99;
  const auto count = static_cast<double>(seconds.size());
  return {median(seconds), std::accumulate(seconds.begin(), seconds.end(), 0.0) / count,
          seconds[static_cast<std::size_t>(std::ceil(quantile * count)) - 1]};
}

}  // namespace

std::vector<RunTimes> time_exchanges(const std::vector<TimedExchange>& exchanges, WarmUp warm_up,
                                     const Measurement& measurement) {
  const int repetitions = measurement.arguments.repetitions;
  std::vector<std::vector<Seconds>> times(exchanges.size());
  std::vector<std::size_t> order(exchanges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);  // the same on every rank
  const double begin = MPI_Wtime();
  // A median needs some rounds, and processors and caches need some time to reach their speed.
  constexpr int late_rounds = 7, usual_rounds = 201;
  constexpr Seconds elapsed_min_s = 0.2, late_s = 5;
  for (int round = 0; repetitions == 0 || round < repetitions; ++round) {
    std::ranges::shuffle(order, random);
    for (const auto i : order) {
      if (warm_up == WarmUp::each_time) exchanges[i].run();
      exchanges[i].prepare();
      times[i].push_back(time_exchange(MPI_COMM_WORLD, exchanges[i].run, exchanges[i].sent));
      exchanges[i].check();
    }
    const Seconds elapsed = MPI_Wtime() - begin;
    int over = round + 1 >= (elapsed > late_s ? late_rounds : usual_rounds) && elapsed > elapsed_min_s;
    COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (measurement.shows_progress && round % 50 == 0)
      std::fputs(fmt::format("round {} …\n", round + 1).c_str(), stderr);  // fmt::print may throw, on this rank alone
    if (repetitions == 0 && over) break;
  }
  std::vector<RunTimes> result;
  std::ranges::transform(times, std::back_inserter(result), run_times_of);
  return result;
}

void run_plain_loop(std::span<const NeighborMessage> receives, std::span<const NeighborMessage> sends) {
  constexpr int tag = 1;
  std::vector<MPI_Request> requests;
  requests.reserve(receives.size() + sends.size());
  for (const auto& [peer, address, bytes] : receives)
    COMMPASS_MPI_CALL(MPI_Irecv, address, static_cast<int>(bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                      &requests.emplace_back());
  for (const auto& [peer, address, bytes] : sends)
    COMMPASS_MPI_CALL(MPI_Isend, address, static_cast<int>(bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                      &requests.emplace_back());
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

int calls_to_settle(int calls_to_know, PlannerMode planner) {
  // The most rounds of trials, of about as many strategies as each mode tries.
  constexpr int calls_of_measure = 51 * 6, calls_of_patient = 51 * 40;
  // Trials by `adaptive` may go on later, for 1 % of the time.
  if (planner == PlannerMode::estimate) return calls_to_know;
  return calls_to_know + (planner == PlannerMode::patient ? calls_of_patient : calls_of_measure);
}

}  // namespace commpass
