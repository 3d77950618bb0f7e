// Messages whose buffers lie on devices: measured as those in host memory are, by the same parts.
#include <algorithm>
#include <utility>

#include "calibrate/devices.hpp"
#include "runtime/device/device_memory.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

constexpr double rest_for_trials = 0.85;  // of the budget of devices, after which exchanges are tried
constexpr double least_part = 0.1;        // where copies have taken longer than they should

/// What was found of "host" memory and of the network, as of devices.
void take_found(Calibration& calibration, Calibration&& on_devices) {
  auto& machine = calibration.machine;
  machine.device = std::move(on_devices.machine.host);
  // What the devices of a node send into the network together is no host's rate.
  const auto node = calibration.layout.node_level(), outermost = calibration.layout.outermost();
  if (auto& network = machine.device.by_level[outermost])
    network->aggregate_rate_bytes_per_s = on_devices.machine.levels[node].up_rate_bytes_per_s;
  calibration.provenance.device->fits = std::move(on_devices.provenance.fits);
  const auto of_node = calibration.level_key(node, "up_rate_bytes_per_s");
  for (auto& what : on_devices.provenance.not_measured) {
    constexpr std::string_view host = ".host";
    if (what.starts_with(of_node))
      what.replace(0, of_node.size(), calibration.level_key(outermost, "device.aggregate_rate_bytes_per_s"));
    else if (const auto place = what.find(host); place < what.find(':')) what.replace(place, host.size(), ".device");
    calibration.not_measured(std::move(what));
  }
}

}  // namespace

void measure_device_messages(Calibration& calibration, const NodeDevices& devices) {
  if (!devices.have_all_one || !devices.are_known_to_mpi) {
    calibration.not_measured(devices.have_all_one
                                 ? "device: the MPI library does not say that it takes " + devices.kind + " memory"
                                 : "device: some ranks see no device");
    return;
  }
  calibration.progress("messages between devices");
  const MPI_Comm comm = calibration.comm.get();
  std::optional<DeviceQueue> queue;
  std::optional<DeviceMemory> memory;
  all_or_none(comm, [&] {
    devices.own->backend->make_current(devices.own->number);
    queue.emplace(*devices.own, nullptr);
    memory.emplace(*queue, Ends::anywhere);
    memory->allocate(2 * calibration.options.largest_bytes);  // is there room for what is sent and what comes?
  });
  CalibrationOptions options = calibration.options;
  options.budget_s *= std::max(rest_for_trials - calibration.sampler.spent(), least_part);
  COMMPASS_MPI_CALL(MPI_Bcast, &options.budget_s, 1, MPI_DOUBLE, 0, comm);
  options.progress = {};
  Calibration on_devices(comm, calibration.layout, options, *memory);
  measure_protocols(on_devices);
  for (const auto level : on_devices.levels) find_rendezvous(on_devices, level);
  for (const auto level : on_devices.levels)
    measure_bursts(on_devices, level, burst_share.of(level, on_devices.levels));
  for (const auto level : on_devices.levels) measure_sharing(on_devices, level);
  for (const auto level : on_devices.levels)
    measure_receiving(on_devices, level, receive_share.of(level, on_devices.levels));
  calibration.provenance.samples += on_devices.sampler.count();
  take_found(calibration, std::move(on_devices));
}

}  // namespace commpass
