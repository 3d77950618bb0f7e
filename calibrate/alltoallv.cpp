// What MPI_Alltoallv takes beyond a direct exchange of the same blocks that is called once.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "calibrate/alltoallv_timing.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/library_call.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

namespace {

Seconds largest_of(Seconds seconds, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// Measures what MPI_Alltoallv takes for each further rank of a communicator to which a rank sends nothing: on all
/// ranks, and on several parts of them at once. Absent where ranks are few.
void measure_visits(Calibration& calibration) {
  constexpr int parts = 4, part_ranks_min = 4;
  const int ranks = calibration.layout.ranks(), part_ranks = ranks / parts;
  if (part_ranks < part_ranks_min) return;
  const int color = std::min(calibration.comm.rank() / part_ranks, parts - 1), first = color * part_ranks,
            end = color == parts - 1 ? ranks : first + part_ranks;
  std::vector<Rank> members(static_cast<std::size_t>(end - first));
  std::iota(members.begin(), members.end(), first);
  const auto part = OwnCommunicator::split_by_color(calibration.comm.get(), color);
  constexpr int messages = 1;
  constexpr Bytes bytes = 64;
  enum class Of { all, part };
  std::map<Of, AlltoallvBench> benches;
  benches.emplace(std::piecewise_construct, std::forward_as_tuple(Of::all),
                  std::forward_as_tuple(calibration.comm.get(), calibration.layout, messages, bytes));
  benches.emplace(std::piecewise_construct, std::forward_as_tuple(Of::part),
                  std::forward_as_tuple(part.get(), layout_of_ranks(calibration.layout, members), messages, bytes));
  std::map<std::pair<Of, bool>, Series> series;  // and whether by the library
  for (const auto of : {Of::all, Of::part})
    for (const bool by_library : {false, true}) series[{of, by_library}];
  calibration.sampler.sample_all(series, visits_share.end, [&](const auto& key, int, int repetitions) {
    auto& bench = benches.at(key.first);
    return largest_of(key.second ? bench.by_library(repetitions) : bench.direct(repetitions), calibration.comm.get());
  });
  const auto call_s = [&](Of of) { return series.at({of, true}).time() - series.at({of, false}).time(); };
  constexpr double least_share = 0.05;  // of a call that is beyond its noise
  const auto growth_s = call_s(Of::all) - call_s(Of::part);
  const int largest_part = ranks - (parts - 1) * part_ranks;
  const bool is_beyond_noise = growth_s > least_share * series.at({Of::all, true}).time();
  calibration.machine.operations.alltoallv_rank_s = is_beyond_noise ? growth_s / (ranks - largest_part) : 0;
}

}  // namespace

void measure_alltoallv(Calibration& calibration) {
  calibration.progress("MPI_Alltoallv");
  std::multimap<int, AlltoallvBench> benches;
  const int most = calibration.layout.ranks() - 1;
  // Small, so that it is the call that shows; of several sizes where few ranks have few numbers of messages.
  constexpr int few = 8;
  const std::vector<Bytes> sizes = most < few ? std::vector<Bytes>{8, 64, 512} : std::vector<Bytes>{64};
  for (int messages = 1;; messages = std::min(4 * messages, most)) {
    for (const Bytes bytes : sizes)
      benches.emplace(std::piecewise_construct, std::forward_as_tuple(messages),
                      std::forward_as_tuple(calibration.comm.get(), calibration.layout, messages, bytes));
    if (messages == most) break;
  }
  const auto fit = fit_library_call(calibration.sampler, alltoallv_share.end, benches);
  calibration.machine.operations.alltoallv_s = fit.call_s;
  calibration.machine.operations.alltoallv_message_s = fit.message_s;
  measure_visits(calibration);
}

}  // namespace commpass
