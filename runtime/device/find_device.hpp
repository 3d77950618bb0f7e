// Which device's memory an address is. Private to the runtime.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/device/device_backend.hpp"

namespace commpass {

/// Nothing: host memory. A device's memory can only come from a driver that is in this process, so a driver is used
/// where the program has loaded it, and nothing is ever loaded here. Without one it takes some 10 ns.
std::optional<Device> device_of(const void* address);

/// That of a name, for memory of another process: its driver is loaded here if it was not. Null: there is none.
DeviceBackend* device_backend(const std::string& name);

/// All kinds of which this process sees a device; their drivers are loaded here if they were not.
std::vector<DeviceBackend*> all_device_backends();

/// For what moves host memory only. @param where  of the message. @throws InputError for device memory
void require_host_memory(const void* address, const std::string& where);

/// One more kind of devices, for tests: alive until the process ends.
void add_device_backend(DeviceBackend& backend);

}  // namespace commpass
