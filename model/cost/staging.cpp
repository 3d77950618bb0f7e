// Source: node-aware paper eq. 4.5, where one rank alone copies from each device.
#include "model/cost/staging.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"

namespace commpass {

namespace {

std::size_t at_index(Rank rank) { return static_cast<std::size_t>(rank); }

/// What `sharers` with data on one device take.
void add_device(std::vector<Rank> sharers, std::span<const Bytes> bytes, const DeviceCopy& copy,
                std::vector<Seconds>& seconds) {
  std::ranges::sort(sharers, {}, [&](Rank rank) { return bytes[at_index(rank)]; });
  double smaller = 0;  // bytes of those that are done earlier
  for (std::size_t i = 0; i < sharers.size(); ++i) {
    const auto own = static_cast<double>(bytes[at_index(sharers[i])]);
    seconds[at_index(sharers[i])] =
        copy.alpha_s + copy.beta_s_per_byte * (smaller + own * static_cast<double>(sharers.size() - i));
    smaller += own;
  }
}

void require_copies(bool are_there, const char* key, const Machine& machine) {
  if (!are_there)
    throw InputError("profile " + machine.name, std::string("it has no ") + key,
                     "measure copies of devices, or use another profile");
}

}  // namespace

DeviceCopy copy_by(std::span<const DeviceCopy> measured, int processes) {
  const DeviceCopy *below = nullptr, *above = nullptr;
  for (const auto& copy : measured) {
    if (copy.processes <= processes && (!below || copy.processes > below->processes)) below = &copy;
    if (copy.processes >= processes && (!above || copy.processes < above->processes)) above = &copy;
  }
  if (!below) return *above;
  if (!above || above->processes == below->processes) return *below;
  const double part =
      static_cast<double>(processes - below->processes) / static_cast<double>(above->processes - below->processes);
  return {processes, std::lerp(below->alpha_s, above->alpha_s, part),
          std::lerp(below->beta_s_per_byte, above->beta_s_per_byte, part)};
}

std::vector<Seconds> device_copy_seconds(std::span<const Bytes> bytes, std::span<const DeviceCopy> measured, int copies,
                                         const Layout& layout, std::optional<int> devices_per_node) {
  std::vector<Seconds> seconds(bytes.size(), 0);
  std::vector<Rank> busy;
  for (int node = 0; node < layout.nodes(); ++node) {
    busy.clear();
    for (const Rank rank : layout.ranks_of(node))
      if (bytes[at_index(rank)] > 0) busy.push_back(rank);
    const auto ranks = busy.size();
    const auto devices = devices_per_node ? std::min(ranks, at_index(*devices_per_node)) : ranks;
    for (std::size_t device = 0; device < devices; ++device) {
      const std::span<const Rank> sharers(busy.data() + device * ranks / devices,
                                          busy.data() + (device + 1) * ranks / devices);
      const auto processes = std::min<std::int64_t>(std::ssize(sharers) * copies, layout.ppn(node));
      add_device({sharers.begin(), sharers.end()}, bytes, copy_by(measured, static_cast<int>(processes)), seconds);
    }
  }
  return seconds;
}

Staging stage_through_host(const Schedule& schedule, const DataPath& path, const Layout& layout,
                           const Machine& machine) {
  require_copies(!machine.device_to_host.empty(), "copy.device_to_host", machine);
  require_copies(!machine.host_to_device.empty(), "copy.host_to_device", machine);
  const auto seconds = [&](const std::vector<Bytes>& bytes, const std::vector<DeviceCopy>& measured) {
    return device_copy_seconds(bytes, measured, path.copies, layout, machine.devices_per_node);
  };
  return {seconds(schedule.send_bytes, machine.device_to_host), seconds(schedule.receive_bytes, machine.host_to_device),
          std::ranges::max(schedule.send_bytes), std::ranges::max(schedule.receive_bytes)};
}

}  // namespace commpass
