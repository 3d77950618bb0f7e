// The operations of dynamic exchanges: collectives, messages that nobody expects, one-sided communication.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/fit.hpp"
#include "calibrate/operation_timing.hpp"

namespace commpass {

namespace {

enum class Operation { barrier, allreduce, window };

/// What depends on how many ranks take part.
void measure_collectives(Calibration& calibration, std::span<std::byte> memory, double share) {
  const MPI_Comm comm = calibration.comm.get();
  std::map<Operation, Series> all{{Operation::barrier, {}}, {Operation::allreduce, {}}, {Operation::window, {}}};
  calibration.sampler.sample_all(all, share, [&](Operation operation, int, int repetitions) {
    switch (operation) {
      case Operation::barrier: return time_barrier(comm, repetitions);
      case Operation::allreduce: return time_allreduce(comm, repetitions);
      case Operation::window: break;
    }
    return time_window(comm, memory, repetitions);
  });
  auto& operations = calibration.machine.operations;
  operations.barrier_s = all[Operation::barrier].middle();
  operations.allreduce_s = all[Operation::allreduce].middle();
  operations.window_s = all[Operation::window].middle();
}

/// Epochs of 1 to 32 puts: T = fence + puts·put.
void measure_puts(Calibration& calibration, std::span<std::byte> memory, double share) {
  const MPI_Comm comm = calibration.comm.get();
  const Window window(comm, memory);
  std::map<int, Series> epochs;
  for (int puts = 1; puts <= most_puts; puts *= 2) epochs[puts];
  calibration.sampler.sample_all(epochs, share, [&](int puts, int, int repetitions) { return time_puts(comm, window, puts, repetitions); });
  std::vector<SizePoint> points;
  for (const auto& [puts, series] : epochs) points.push_back({puts, series.middle()});
  const auto line = fit_line(points);
  calibration.machine.operations.fence_s = line.alpha_s;
  calibration.machine.operations.put_s = line.beta_s_per_byte;
}

/// By how much a message of the slowest locality takes longer if its receiver has to find it.
void measure_probe(Calibration& calibration, double share) {
  const auto pair = calibration.pairs(calibration.localities.back()).front();
  constexpr Bytes bytes = 8;
  std::map<Receiving, Series> all{{Receiving::posted, {}}, {Receiving::probed, {}}};
  calibration.sampler.sample_all(all, share, [&](Receiving receiving, int, int repetitions) {
    return calibration.bench.synchronous_ping_pong(pair.first, pair.second, bytes, receiving, repetitions);
  });
  calibration.machine.operations.probe_s = std::max(0.0, all[Receiving::probed].middle() - all[Receiving::posted].middle());
}

}  // namespace

void measure_operations(Calibration& calibration) {
  calibration.progress("operations");
  const auto ranks = calibration.layout.ranks();
  calibration.machine.operations.ranks = ranks;
  std::vector<std::byte> memory(static_cast<std::size_t>(ranks * most_puts * put_bytes));
  const auto share = [](int part) {
    constexpr int parts = 3;
    return operation_share.begin + (operation_share.end - operation_share.begin) * part / parts;
  };
  measure_collectives(calibration, memory, share(1));
  measure_puts(calibration, memory, share(2));
  measure_probe(calibration, share(3));
}

}  // namespace commpass
