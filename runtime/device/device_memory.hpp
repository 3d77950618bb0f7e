// The memory of a device as that in which an exchange takes place. Private to the runtime.
#pragma once

#include "runtime/device/device_queue.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

class DeviceMemory final : public Memory {
 public:
  /// @param queue  alive as long as this
  explicit DeviceMemory(DeviceQueue& queue) : queue_(queue) {}
  Buffer allocate(Bytes bytes) override { return device_buffer(queue_.device(), bytes); }
  void copy(std::span<const LocalCopy> copies) override { queue_.copy(copies); }
  void order() override { queue_.wait(); }

 private:
  DeviceQueue& queue_;
};

}  // namespace commpass
