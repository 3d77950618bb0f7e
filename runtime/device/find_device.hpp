// Which device's memory an address is. Private to the runtime.
#pragma once

#include <optional>

#include "runtime/device/device_backend.hpp"

namespace commpass {

/// Nothing: host memory. A device's memory can only come from a driver that is in this process, so a driver is used
/// where the program has loaded it, and nothing is ever loaded here. Without one it takes some 10 ns.
std::optional<Device> device_of(const void* address);

/// One more kind of devices, for tests: alive until the process ends.
void add_device_backend(DeviceBackend& backend);

}  // namespace commpass
