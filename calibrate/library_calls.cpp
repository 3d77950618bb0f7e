// Costs of MPI_Alltoallv and of MPI's neighbourhood collective, beyond a direct exchange of the same messages.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/operation_timing.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"

namespace commpass {

namespace {

template <class Bench>
using Benches = std::vector<std::pair<int, std::unique_ptr<Bench>>>;  ///< by messages that each rank sends, growing

/// Times exchanges by the library and directly, in turn, and fits the difference.
/// @param share  of the budget, at which sampling ends
/// @return the cost of the call, and of each message at either end
template <class Bench>
CallFit fit_library_call(Sampler& sampler, double share, const Benches<Bench>& benches) {
  std::map<std::pair<std::size_t, bool>, Series> series;  // by index of the bench, and whether by the library
  for (std::size_t i = 0; i < benches.size(); ++i)
    for (const bool by_library : {false, true}) series[{i, by_library}];
  sampler.sample_all(series, share, [&](const auto& key, int, int repetitions) {
    auto& bench = *benches[key.first].second;
    return key.second ? bench.by_library(repetitions) : bench.direct(repetitions);
  });
  std::vector<double> messages, direct, by_library;
  for (std::size_t i = 0; i < benches.size(); ++i) {
    messages.push_back(benches[i].first);
    direct.push_back(series.at({i, false}).time());
    by_library.push_back(series.at({i, true}).time());
  }
  auto fit = fit_call(messages, by_library, direct);
  constexpr double ends = 2;  // every rank sends a message and receives one
  fit.message_s /= ends;
  return fit;
}

/// Measures the cost of MPI_Alltoallv for each rank of a communicator to which a rank sends nothing: on all ranks, and
/// on several parts of them at once. Absent where ranks are few.
void measure_visits(Calibration& calibration) {
  constexpr int parts = 4, part_ranks_min = 4;
  const int ranks = calibration.layout.ranks(), part_ranks = ranks / parts;
  if (part_ranks < part_ranks_min) return;
  const int color = std::min(calibration.comm.rank() / part_ranks, parts - 1), first = color * part_ranks,
            end = color == parts - 1 ? ranks : first + part_ranks;
  std::vector<Rank> members(at(end - first));
  std::iota(members.begin(), members.end(), first);
  const auto part = OwnCommunicator::split(calibration.comm.get(), color);
  constexpr int messages = 1;
  constexpr Bytes bytes = 64;
  AlltoallvBench on_all(calibration.comm.get(), calibration.layout, messages, bytes);
  AlltoallvBench on_part(part.get(), layout_of_ranks(calibration.layout, members), messages, bytes);
  std::map<std::pair<bool, bool>, Series> series;  // whether on a part, and whether by the library
  for (const bool is_part : {false, true})
    for (const bool by_library : {false, true}) series[{is_part, by_library}];
  calibration.sampler.sample_all(series, visits_share.end, [&](const auto& key, int, int repetitions) {
    auto& bench = key.first ? on_part : on_all;
    Seconds seconds = key.second ? bench.by_library(repetitions) : bench.direct(repetitions);
    COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, calibration.comm.get());
    return seconds;
  });
  const auto call_s = [&](bool is_part) {
    return series.at({is_part, true}).time() - series.at({is_part, false}).time();
  };
  constexpr double noise_ratio = 0.05;  // of a call's time
  const auto growth_s = call_s(false) - call_s(true);
  const int largest_part = ranks - (parts - 1) * part_ranks;
  const bool is_beyond_noise = growth_s > noise_ratio * series.at({false, true}).time();
  calibration.machine.operations.alltoallv_rank_s = is_beyond_noise ? growth_s / (ranks - largest_part) : 0;
}

}  // namespace

void measure_neighborhood(Calibration& calibration) {
  calibration.progress("neighbourhood collective");
  if (!NeighborhoodCollective::is_available())
    return calibration.not_measured(
        "operations.neighbor_alltoall_s, neighbor_alltoall_message_s: this MPI library has no neighbourhood "
        "collectives");
  Benches<CollectiveBench> benches;
  for (const int count : {1, 2, 4, 8, 16, 32})
    benches.emplace_back(count, std::make_unique<CollectiveBench>(calibration.comm.get(), count, calibration.machine));
  const auto fit = fit_library_call(calibration.sampler, collective_share.end, benches);
  calibration.machine.operations.neighbor_alltoall_s = fit.call_s;
  calibration.machine.operations.neighbor_alltoall_message_s = fit.message_s;
}

void measure_alltoallv(Calibration& calibration) {
  calibration.progress("MPI_Alltoallv");
  Benches<AlltoallvBench> benches;
  const int messages_max = calibration.layout.ranks() - 1;
  // Blocks are small, so that the call dominates. Few ranks have few message counts, and several sizes make up for it.
  constexpr int few_counts_below = 8;
  const std::vector<Bytes> sizes =
      messages_max < few_counts_below ? std::vector<Bytes>{8, 64, 512} : std::vector<Bytes>{64};
  for (int messages = 1;; messages = std::min(4 * messages, messages_max)) {
    for (const Bytes bytes : sizes)
      benches.emplace_back(
          messages, std::make_unique<AlltoallvBench>(calibration.comm.get(), calibration.layout, messages, bytes));
    if (messages == messages_max) break;
  }
  const auto fit = fit_library_call(calibration.sampler, alltoallv_share.end, benches);
  calibration.machine.operations.alltoallv_s = fit.call_s;
  calibration.machine.operations.alltoallv_message_s = fit.message_s;
  measure_visits(calibration);
}

}  // namespace commpass
