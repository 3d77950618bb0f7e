#include "calibrate/devices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <utility>

#include "calibrate/exchange_trials.hpp"
#include "runtime/device/device_queue.hpp"
#include "runtime/mpi/agreement.hpp"
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

namespace {

constexpr double messages_end = 0.85;  // share of the budget of devices; held-out exchanges get the rest
constexpr double share_min = 0.1;      // if copies have taken longer than their share

/// Takes the parameters of "host" memory and of the network as those of devices.
void take_parameters(Calibration& calibration, Calibration&& on_devices) {
  auto& machine = calibration.machine;
  machine.device = std::move(on_devices.machine.host);
  // The injection of a node's devices differs from that of its host memory.
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
  if (!devices.have_all_one || !devices.are_known_to_mpi)
    return calibration.not_measured(devices.have_all_one ? "device: the MPI library does not say that it takes " +
                                                               devices.kind + " memory"
                                                         : "device: some ranks see no device");
  calibration.progress("messages between devices");
  const MPI_Comm comm = calibration.comm.get();
  std::optional<DeviceQueue> queue;
  std::optional<DeviceMemory> memory;
  all_or_none(comm, [&] {
    devices.own->backend->make_current(devices.own->number);
    queue.emplace(*devices.own, nullptr);
    memory.emplace(*queue, Ends::anywhere);
    memory->allocate(2 * calibration.options.largest_bytes);  // fails here if there is no room
  });
  CalibrationOptions options = calibration.options;
  options.budget_s *= std::max(messages_end - calibration.sampler.spent(), share_min);
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
  take_parameters(calibration, std::move(on_devices));
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
