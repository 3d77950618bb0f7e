// Data on a device whose addresses go to MPI. Private to the runtime.
#pragma once

#include <memory>
#include <utility>

#include "runtime/device/device_data.hpp"
#include "runtime/device/device_memory.hpp"
#include "runtime/execute/requests_around.hpp"

namespace commpass {

/// Requests that take place in the memory of a device, after what the user's stream had to do when they begin. When
/// they are complete, so is all on the device.
class DeviceRequests final : public RequestsAround {
 public:
  /// @throws DeviceError
  DeviceRequests(const DeviceSides& sides, DeviceBackend::Stream users)
      : queue_(sides.device(), users), memory_(queue_, sides.both_ends()) {}
  ~DeviceRequests() override { drop(); }
  /// In which the requests are to be made.
  Memory& memory() { return memory_; }
  void run_by(std::unique_ptr<BatchRequests> on_device) { surround(std::move(on_device)); }

  void begin(std::size_t batch) override {
    if (batch == 0) {
      queue_.follow_user();
      queue_.wait();
    }
    RequestsAround::begin(batch);
  }

 private:
  DeviceQueue queue_;
  DeviceMemory memory_;
};

}  // namespace commpass
