#include "calibrate/devices.hpp"

#include <fmt/core.h>

#include <random>

#include "calibrate/exchange_trials.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

void measure_devices(Calibration& calibration, const NodeDevices& devices) {
  auto& found = calibration.provenance.device.emplace();
  found.kind = devices.kind;
  found.name = devices.name;
  found.per_node = devices.count;
  try {
    if (devices.first) found.why_no_kernel = devices.first->backend->why_no_kernel(devices.first->number);
    measure_device_copies(calibration, devices);
    measure_copies_within_device(calibration, devices);
    measure_device_messages(calibration, devices);
    check_staged(calibration, devices);
  } catch (const DeviceError&) {  // on this rank alone
    throw;
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {  // the same on every rank
    calibration.not_measured(fmt::format("of devices, from here on: {}", error.what()));
  }
}

void check_staged(Calibration& calibration, const NodeDevices& devices) {
  const auto& machine = calibration.machine;
  if (machine.device_to_host.empty() || machine.host_to_device.empty()) return;
  if (!devices.have_all_one || calibration.sampler.has_spent(1))
    return calibration.not_measured(devices.have_all_one ? "device.held_out: no time was left"
                                                         : "device.held_out: some ranks see no device");
  calibration.progress("held-out exchanges on devices");
  struct Kind {
    const char* name;
    int messages;
    Bytes bytes;
  };
  constexpr Kind kinds[] = {{"few large, on devices", 2, Bytes{512} << 10}, {"many small, on devices", 32, 300}};
  ExchangeTrials trials(calibration);
  std::mt19937_64 random(4);
  const int ranks = calibration.layout.ranks();
  for (const auto& [name, messages, bytes] : kinds) {
    Pattern pattern{ranks, {}};
    for (Rank source = 0; source < ranks; ++source)
      for (int i = 0; i < messages; ++i)
        pattern.edges.push_back(
            {source, (source + 1 + static_cast<int>(uniform(random) * (ranks - 1))) % ranks, bytes});
    trials.add_on_device(name, pattern, "standard@staged", *devices.own);
    if (!machine.device.empty()) trials.add_on_device(name, pattern, "standard@device", *devices.own);
  }
  trials.price_again();
  trials.time(1);
  calibration.provenance.device->held_out = trials.results();
}

}  // namespace commpass
