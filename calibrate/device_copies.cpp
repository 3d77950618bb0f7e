// Measures copies between a device and host memory, and within a device.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "calibrate/devices.hpp"
#include "calibrate/fit/fit.hpp"
#include "runtime/device/piece_kernels.hpp"
#include "runtime/device/staged_bytes.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

namespace {

constexpr double copies_end = 0.5, within_end = 0.55;  // shares of the budget of devices
constexpr Bytes bytes_min = 1 << 10;

/// Several processes copy at once, each its part of the bytes.
struct SharedCopy {
  CopyWay way{};
  int processes = 1;
  Bytes bytes = 0;
  auto operator<=>(const SharedCopy&) const = default;
};

/// The buffers of the copies of one process.
class CopyPlaces {
 public:
  CopyPlaces(const Device& device, Bytes bytes)
      : queue_(device, nullptr),
        on_device_(device_buffer(device, bytes)),
        pinned_(pinned_buffer(device, bytes)),
        pageable_(at(bytes), std::byte{1}) {
    const auto size = at(bytes);
    const std::array first{LocalCopy{pageable_.data(), on_device_.get(), size}};
    queue_.copy(first);
    queue_.wait();
    std::ranges::copy(pageable_, pinned_.get());
  }

  DeviceQueue& queue() { return queue_; }
  LocalCopy copy(const CopyWay& way, Bytes bytes) {
    std::byte* const host = way.memory == HostPages::pinned ? pinned_.get() : pageable_.data();
    const auto size = at(bytes);
    if (way.direction == CopyDirection::to_host) return {on_device_.get(), host, size};
    return {host, on_device_.get(), size};
  }

 private:
  DeviceQueue queue_;
  Memory::Buffer on_device_, pinned_;
  std::vector<std::byte> pageable_;
};

/// Powers of two up to 8 and the number of processes.
std::vector<int> counts_of_processes(std::size_t processes) {
  std::vector<int> counts;
  for (const int count : {1, 2, 4, 8})
    if (at(count) <= processes) counts.push_back(count);
  return counts;
}

constexpr CopyWay ways[] = {{CopyDirection::to_host, HostPages::pinned},
                            {CopyDirection::to_device, HostPages::pinned},
                            {CopyDirection::to_host, HostPages::pageable},
                            {CopyDirection::to_device, HostPages::pageable}};

/// Fits a line, and keeps it if its slope is positive. Copies of pageable memory go to the provenance only: Commpass
/// makes none.
void fit_copies(Calibration& calibration, const CopyWay& way, int processes, std::span<const SizePoint> points) {
  const auto line = fit_line(points);
  const bool is_pinned = way.memory == HostPages::pinned;
  if (!(line.beta_s_per_byte > 0)) {
    if (is_pinned)
      calibration.not_measured(
          fmt::format("copy.{}, {} processes: bytes take no measurable time", name_of(way.direction), processes));
    return;
  }
  calibration.provenance.device->copies.push_back(
      {way, processes, line, median_relative_error(points, line), static_cast<int>(points.size())});
  auto& machine = calibration.machine;
  if (is_pinned)
    (way.direction == CopyDirection::to_host ? machine.device_to_host : machine.host_to_device)
        .push_back({processes, line.alpha_s, line.beta_s_per_byte});
}

}  // namespace

void measure_device_copies(Calibration& calibration, const NodeDevices& devices) {
  calibration.progress("copies of devices");
  const Bytes bytes_max = 4 * calibration.options.largest_bytes;
  std::optional<CopyPlaces> mine;
  all_or_none(calibration.comm.get(), [&] {
    if (devices.first) mine.emplace(*devices.first, bytes_max);
  });
  const auto counts = counts_of_processes(devices.sharers.size());
  std::map<SharedCopy, Series> times;
  for (const auto& way : ways)
    for (const int processes : counts)
      for (Bytes bytes = bytes_min; bytes <= bytes_max; bytes *= 4) times[{way, processes, bytes}];
  const auto place = std::ranges::find(devices.sharers, calibration.comm.rank()) - devices.sharers.begin();
  calibration.sampler.sample_all(times, copies_end, [&](const SharedCopy& what, int, int repetitions) {
    const bool copies = mine && place < what.processes;
    LocalCopy copy{};
    if (copies) copy = mine->copy(what.way, what.bytes / what.processes);
    return time_device_copies(calibration.comm.get(), copies ? &mine->queue() : nullptr, {&copy, 1}, Ends::anywhere,
                              repetitions);
  });
  for (const auto& way : ways)
    for (const int processes : counts) {
      std::vector<SizePoint> points;
      for (const auto& [what, series] : times)
        if (what.way == way && what.processes == processes) points.push_back({what.bytes, series.time()});
      fit_copies(calibration, way, processes, points);
    }
  calibration.machine.devices_per_node = devices.count;
}

void measure_copies_within_device(Calibration& calibration, const NodeDevices& devices) {
  calibration.progress("copies within a device");
  const Bytes bytes_max = 4 * calibration.options.largest_bytes;
  const bool copies = calibration.comm.rank() == devices.sharers.front();
  Memory::Buffer from, to;
  std::optional<DeviceQueue> queue;
  all_or_none(calibration.comm.get(), [&] {
    if (!copies) return;
    from = device_buffer(*devices.first, bytes_max);
    to = device_buffer(*devices.first, bytes_max);
    queue.emplace(*devices.first, nullptr);
  });
  // As in exchanges, a kernel copies the pieces, if there is one.
  const auto pieces_of = [&](Bytes bytes) {
    constexpr Bytes piece_bytes = worth_a_copy / 2;
    const auto pieces = std::max<Bytes>(2 * worth_a_kernel, bytes / piece_bytes);
    return copies && queue->packs(at(pieces), bytes) ? pieces : 1;
  };
  std::map<Bytes, Series> times;
  for (Bytes bytes = bytes_min; bytes <= bytes_max; bytes *= 4) times[bytes];
  calibration.sampler.sample_all(times, within_end, [&](Bytes bytes, int, int repetitions) {
    std::vector<LocalCopy> batch;
    if (copies) {
      const Bytes piece = bytes / pieces_of(bytes);
      for (Bytes begin = 0; begin < bytes; begin += piece)
        batch.push_back({from.get() + begin, to.get() + begin, at(piece)});
    }
    return time_device_copies(calibration.comm.get(), copies ? &*queue : nullptr, batch, Ends::reached, repetitions);
  });
  const auto line = fit_line(points_of(times));
  calibration.machine.device_copy_call_s = line.alpha_s;
  if (line.beta_s_per_byte > 0) calibration.machine.device_copy_rate_bytes_per_s = 1 / line.beta_s_per_byte;
  else calibration.not_measured("devices.copy_rate_bytes_per_s: bytes take no measurable time");
}

}  // namespace commpass
