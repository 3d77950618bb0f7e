// Finds the device of an address. Private to the runtime.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/device/device_backend.hpp"

namespace commpass {

/// Uses drivers that the program has loaded, and loads none: memory of a device can only come from such. Takes some 10
/// ns without one.
/// @return nothing for host memory
std::optional<Device> device_of(const void* address);

/// May any address be one of a device, as far as device_of knows?
bool may_be_on_device();

/// The backend of a name, for memory of another process. Loads its driver. Null: there is none.
DeviceBackend* device_backend(const std::string& name);

/// All backends with devices that this process sees. Loads their drivers.
std::vector<DeviceBackend*> all_device_backends();

/// @param where  of the error. @throws InputError for device memory
void require_host_memory(const void* address, const std::string& where);

/// Adds a backend for tests, which lives until the process ends.
void add_device_backend(DeviceBackend& backend);

}  // namespace commpass
