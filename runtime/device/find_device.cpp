#include "runtime/device/find_device.hpp"

#include <link.h>

#include <array>
#include <atomic>
#include <mutex>

#include "runtime/device/gpu_library.hpp"

namespace commpass {

namespace {

/// Those that were found so far, which stay until the process ends.
struct Backends {
  std::mutex mutex;
  std::array<std::atomic<DeviceBackend*>, 3> all{};  ///< CUDA, HIP, and what a test adds
  std::atomic<unsigned long long> seen = 0;          ///< how many libraries had been loaded at the last look
};

Backends& backends() {
  static Backends all;
  return all;
}

/// How many libraries this process has loaded so far.
unsigned long long libraries_loaded() {
  unsigned long long count = 0;
  const auto read_first = [](dl_phdr_info* info, std::size_t, void* result) {
    *static_cast<unsigned long long*>(result) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(read_first, &count);
  return count;
}

using FindBackend = DeviceBackend* (*)(LoadedLibrary::Open);

void look_for(std::atomic<DeviceBackend*>& backend, FindBackend find, LoadedLibrary::Open open) {
  if (!backend.load()) backend.store(find(open));
}

}  // namespace

std::optional<Device> device_of(const void* address) {
  if (!address) return {};
  auto& known = backends();
  if (const auto loaded = libraries_loaded(); loaded != known.seen.load()) {
    const std::lock_guard lock(known.mutex);
    look_for(known.all[0], cuda_backend, LoadedLibrary::Open::if_loaded);
    look_for(known.all[1], hip_backend, LoadedLibrary::Open::if_loaded);
    known.seen.store(loaded);
  }
  for (const auto& entry : known.all)
    if (auto* const backend = entry.load())
      if (const auto number = backend->device_of(address)) return Device{backend, *number};
  return {};
}

DeviceBackend* device_backend(const std::string& name) {
  auto& known = backends();
  const std::lock_guard lock(known.mutex);
  if (name == cuda_name) look_for(known.all[0], cuda_backend, LoadedLibrary::Open::load);
  if (name == hip_name) look_for(known.all[1], hip_backend, LoadedLibrary::Open::load);
  for (const auto& entry : known.all)
    if (auto* const backend = entry.load(); backend && name == backend->name()) return backend;
  return nullptr;
}

std::vector<DeviceBackend*> all_device_backends() {
  auto& known = backends();
  const std::lock_guard lock(known.mutex);
  look_for(known.all[0], cuda_backend, LoadedLibrary::Open::load);
  look_for(known.all[1], hip_backend, LoadedLibrary::Open::load);
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
