#include "runtime/time_exchanges.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <random>

#include "runtime/common_start.hpp"
#include "runtime/mpi_error.hpp"

namespace commpass {

namespace {

/// One exchange of all ranks, from a common start to the last finish.
Seconds time_once(const std::function<void()>& exchange) {
  common_start(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  exchange();
  const double elapsed = MPI_Wtime() - begin;
  double slowest = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

Seconds median_of(std::vector<Seconds> times) {
  std::ranges::sort(times);
  const auto n = times.size();
  return n % 2 == 1 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

}  // namespace

std::vector<Seconds> time_exchanges(const std::vector<std::function<void()>>& exchanges, int repetitions, bool shown) {
  std::vector<std::vector<Seconds>> times(exchanges.size());
  std::vector<std::size_t> order(exchanges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(1);  // the same on every rank
  for (const auto& exchange : exchanges) time_once(exchange);  // warm-up
  const double begin = MPI_Wtime();
  // Unless told: enough to see a median, but not for ever.
  constexpr int least = 7, most = 201;
  constexpr Seconds long_enough_s = 5;
  for (int round = 0; repetitions > 0 ? round < repetitions : round < most; ++round) {
    std::ranges::shuffle(order, random);
    for (const auto i : order) times[i].push_back(time_once(exchanges[i]));
    int over = MPI_Wtime() - begin > long_enough_s;
    COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (shown && round % 50 == 0) fmt::print(stderr, "round {} …\n", round + 1);
    if (repetitions == 0 && round + 1 >= least && over) break;
  }
  std::vector<Seconds> result;
  for (auto& series : times) result.push_back(median_of(std::move(series)));
  return result;
}

}  // namespace commpass
