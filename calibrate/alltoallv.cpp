// What MPI_Alltoallv takes beyond a direct exchange of the same blocks that is called once.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "calibrate/alltoallv_timing.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/fit.hpp"

namespace commpass {

void measure_alltoallv(Calibration& calibration) {
  calibration.progress("MPI_Alltoallv");
  struct Key {
    std::pair<int, Bytes> exchange;  // messages, bytes of each
    bool by_library;
    auto operator<=>(const Key&) const = default;
  };
  std::map<std::pair<int, Bytes>, AlltoallvBench> benches;
  std::map<Key, Series> all;
  const int most = calibration.layout.ranks() - 1;
  // Small, so that it is the call that shows; of several sizes where few ranks have few numbers of messages.
  constexpr int few = 8;
  const std::vector<Bytes> sizes = most < few ? std::vector<Bytes>{8, 64, 512} : std::vector<Bytes>{64};
  for (int messages = 1;; messages = std::min(4 * messages, most)) {
    for (const Bytes bytes : sizes) {
      benches.try_emplace({messages, bytes}, calibration.comm.get(), calibration.layout, messages, bytes);
      for (const bool by_library : {false, true}) all[{{messages, bytes}, by_library}];
    }
    if (messages == most) break;
  }
  calibration.sampler.sample_all(all, alltoallv_share.end, [&](const Key& key, int, int repetitions) {
    auto& bench = benches.at(key.exchange);
    return key.by_library ? bench.by_library(repetitions) : bench.direct(repetitions);
  });
  std::vector<double> messages, direct, by_library;
  for (const auto& [exchange, bench] : benches) {
    messages.push_back(exchange.first);
    direct.push_back(all.at({exchange, false}).middle());
    by_library.push_back(all.at({exchange, true}).middle());
  }
  const auto fit = fit_call(messages, by_library, direct);
  constexpr double ends = 2;  // every rank sends a message and receives one
  calibration.machine.operations.alltoallv_s = fit.call_s;
  calibration.machine.operations.alltoallv_message_s = fit.message_s / ends;
}

}  // namespace commpass
