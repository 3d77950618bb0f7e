// What the MPI library's neighbourhood collective takes beyond a direct exchange of the same messages.
#include <map>
#include <tuple>
#include <utility>

#include "calibrate/calibration.hpp"
#include "calibrate/collective_timing.hpp"
#include "calibrate/library_call.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"

namespace commpass {

void measure_neighborhood(Calibration& calibration) {
  calibration.progress("neighbourhood collective");
  if (!NeighborhoodCollective::is_available()) {
    calibration.not_measured(
        "operations.neighbor_alltoall_s, neighbor_alltoall_message_s: this MPI library has no neighbourhood "
        "collectives");
    return;
  }
  std::multimap<int, CollectiveBench> benches;
  for (const int count : {1, 2, 4, 8, 16, 32})
    benches.emplace(std::piecewise_construct, std::forward_as_tuple(count),
                    std::forward_as_tuple(calibration.comm.get(), count, calibration.machine));
  const auto fit = fit_library_call(calibration.sampler, collective_share.end, benches);
  calibration.machine.operations.neighbor_alltoall_s = fit.call_s;
  calibration.machine.operations.neighbor_alltoall_message_s = fit.message_s;
}

}  // namespace commpass
