// What the MPI library's neighbourhood collective takes beyond a direct exchange of the same messages.
#include <map>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/collective_timing.hpp"
#include "calibrate/fit.hpp"
#include "runtime/neighborhood_collective.hpp"

namespace commpass {

void measure_neighborhood(Calibration& calibration) {
  calibration.progress("neighbourhood collective");
  if (!NeighborhoodCollective::is_available()) {
    calibration.not_measured("operations.neighbor_alltoall_s, neighbor_alltoall_message_s: this MPI library has no neighbourhood collectives");
    return;
  }
  struct Key {
    int messages;
    bool by_library;
    auto operator<=>(const Key&) const = default;
  };
  std::map<int, CollectiveBench> benches;
  std::map<Key, Series> series;
  for (const int count : {1, 2, 4, 8, 16, 32}) {
    benches.try_emplace(count, calibration.comm.get(), count);
    for (const bool by_library : {false, true}) series[{count, by_library}];
  }
  calibration.sampler.sample_all(series, collective_share.end, [&](const Key& key, int, int repetitions) {
    auto& bench = benches.at(key.messages);
    return key.by_library ? bench.by_library(repetitions) : bench.direct(repetitions);
  });
  std::vector<double> messages, direct, by_library;
  for (const auto& [count, bench] : benches) {
    messages.push_back(count);
    direct.push_back(series.at({count, false}).middle());
    by_library.push_back(series.at({count, true}).middle());
  }
  const auto fit = fit_call(messages, by_library, direct);
  constexpr double ends = 2;  // every rank sends a message and receives one
  calibration.machine.operations.neighbor_alltoall_s = fit.call_s;
  calibration.machine.operations.neighbor_alltoall_message_s = fit.message_s / ends;
}

}  // namespace commpass
