// The memory of a device as that in which an exchange takes place. Private to the runtime.
#pragma once

#include "runtime/device/device_queue.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

class DeviceMemory final : public Memory {
 public:
  /// @param queue  alive as long as this
  /// @param ends   of what is copied: between the user's buffers, or between one of them and memory of the device
  DeviceMemory(DeviceQueue& queue, Ends ends) : queue_(queue), ends_(ends) {}
  Buffer allocate(Bytes bytes) override { return device_buffer(queue_.device(), bytes); }
  void copy(std::span<const LocalCopy> copies) override { queue_.copy(copies, ends_); }
  void order() override { queue_.wait(); }

 private:
  DeviceQueue& queue_;
  Ends ends_;
};

}  // namespace commpass
