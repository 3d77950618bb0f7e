// What MPI_Alltoallv takes beyond a direct exchange of the same blocks that is called once.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "calibrate/alltoallv_timing.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/library_call.hpp"

namespace commpass {

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
}

}  // namespace commpass
