#include "runtime/device/find_device.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "runtime/device/gpu_library.hpp"

namespace commpass {

namespace {

/// The backends that were found, which live until the process ends.
struct Backends {
  std::mutex mutex;
  std::array<std::atomic<DeviceBackend*>, 3> all{};    ///< CUDA, HIP, and the backend of a test
  std::atomic<unsigned long long> libraries_seen = 0;  ///< libraries_loaded() at the last search
};

Backends& backends() {
  static Backends all;
  return all;
}

/// The number of libraries that this process has ever loaded.
unsigned long long libraries_loaded() {
  unsigned long long count = 0;
  const auto read_first = [](dl_phdr_info* info, std::size_t, void* result) {
    *static_cast<unsigned long long*>(result) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(read_first, &count);
  return count;
}

/// Finds the drivers that are not known yet. Under the lock.
void find_drivers(Backends& known, LoadedLibrary::Open open) {
  auto &cuda = known.all[0], &hip = known.all[1];
  if (!cuda.load()) cuda.store(cuda_backend(open));
  if (!hip.load()) hip.store(hip_backend(open));
}

/// With the drivers that the program has loaded.
Backends& known_backends() {
  auto& known = backends();
  if (const auto loaded = libraries_loaded(); loaded != known.libraries_seen.load()) {
    const std::lock_guard lock(known.mutex);
    find_drivers(known, LoadedLibrary::Open::if_loaded);
    known.libraries_seen.store(loaded);
  }
  return known;
}

}  // namespace

bool may_be_on_device() {
  return std::ranges::any_of(known_backends().all, [](const auto& entry) { return entry.load() != nullptr; });
}

std::optional<Device> device_of(const void* address) {
  if (!address) return {};
  for (const auto& entry : known_backends().all)
    if (auto* const backend = entry.load())
      if (const auto number = backend->device_of(address)) return Device{backend, *number};
  return {};
}

DeviceBackend* device_backend(const std::string& name) {
  const auto all = all_device_backends();
  const auto found = std::ranges::find_if(all, [&](const DeviceBackend* backend) { return name == backend->name(); });
  return found == all.end() ? nullptr : *found;
}

std::vector<DeviceBackend*> all_device_backends() {
  auto& known = backends();
  const std::lock_guard lock(known.mutex);
  find_drivers(known, LoadedLibrary::Open::load);
  std::vector<DeviceBackend*> result;
  for (const auto& entry : known.all)
    if (auto* const backend = entry.load(); backend && backend->count() > 0) result.push_back(backend);
  return result;
}

void require_host_memory(const void* address, const std::string& where) {
  if (device_of(address))
    throw InputError(where, "the data lies in device memory, which it does not take",
                     "copy it to host memory, or use an exchange that takes it (docs/devices.md)");
}

void add_device_backend(DeviceBackend& backend) { backends().all.back().store(&backend); }

}  // namespace commpass
