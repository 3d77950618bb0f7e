// Costs of the operations of dynamic exchanges: collectives, probes, one-sided communication.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/operation_timing.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

enum class Collective { barrier, allreduce };

void measure_collectives(Calibration& calibration, double share) {
  std::map<Collective, Series> all{{Collective::barrier, {}}, {Collective::allreduce, {}}};
  calibration.sampler.sample_all(all, share, [&](Collective collective, int, int repetitions) {
    const auto time = collective == Collective::barrier ? time_barrier : time_allreduce;
    return time(calibration.comm.get(), repetitions);
  });
  calibration.machine.operations.barrier_s = all[Collective::barrier].time();
  calibration.machine.operations.allreduce_s = all[Collective::allreduce].time();
}

/// The reason why windows cannot be created; empty if they can. Open MPI has none over shared memory without single
/// copies.
std::string lack_of_windows(MPI_Comm comm, std::span<std::byte> memory) {
  try {
    const PutWindow window(comm, memory);
    return {};
  } catch (const MpiError& error) {  // on all ranks: they have the same library and transports
    return error.what();
  }
}

void measure_window(Calibration& calibration, std::span<std::byte> memory, double share) {
  calibration.machine.operations.window_s = calibration.sampler.sample_one(
      share, [&](int repetitions) { return time_window(calibration.comm.get(), memory, repetitions); });
}

/// Epochs of 1 to 32 puts: T = fence + puts·put.
void measure_puts(Calibration& calibration, std::span<std::byte> memory, double share) {
  const MPI_Comm comm = calibration.comm.get();
  const PutWindow window(comm, memory);
  std::map<Bytes, Series> epochs;  // by number of puts
  for (int puts = 1; puts <= puts_max; puts *= 2) epochs[puts];
  calibration.sampler.sample_all(epochs, share, [&](Bytes puts, int, int repetitions) {
    return time_puts(comm, window, static_cast<int>(puts), repetitions);
  });
  const auto line = fit_line(points_of(epochs));
  calibration.machine.operations.fence_s = line.alpha_s;
  calibration.machine.operations.put_s = line.beta_s_per_byte;
}

/// The additional time of a message of the slowest level whose receiver has to probe it.
void measure_probe(Calibration& calibration, double share) {
  const auto pair = calibration.pairs(calibration.levels.back()).front();
  constexpr Bytes bytes = 8;
  std::map<Receiving, Series> all{{Receiving::posted, {}}, {Receiving::probed, {}}};
  calibration.sampler.sample_all(all, share, [&](Receiving receiving, int, int repetitions) {
    return calibration.bench.synchronous_ping_pong(pair.first, pair.second, bytes, receiving, repetitions);
  });
  calibration.machine.operations.probe_s = std::max(0.0, all[Receiving::probed].time() - all[Receiving::posted].time());
}

}  // namespace

void measure_operations(Calibration& calibration) {
  calibration.progress("operations");
  const int ranks = calibration.layout.ranks();
  calibration.machine.operations.ranks = ranks;
  const auto share = [](int part) {
    constexpr int parts = 4;
    return operation_share.begin + (operation_share.end - operation_share.begin) * part / parts;
  };
  measure_collectives(calibration, share(1));
  measure_probe(calibration, share(2));
  std::vector<std::byte> memory(at(ranks * puts_max * put_bytes));
  if (const auto why = lack_of_windows(calibration.comm.get(), memory); !why.empty()) {
    calibration.not_measured("operations.put_s, fence_s, window_s: " + why);
    return;
  }
  measure_puts(calibration, memory, share(3));
  measure_window(calibration, memory, share(4));
}

}  // namespace commpass
