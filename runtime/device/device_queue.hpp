// A stream of our own on a device, ordered with the user's by events. Private to the runtime.
#pragma once

#include <span>

#include "runtime/device/device_backend.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

/// Begins copies and orders them. Nothing is allocated after construction, and the device is never waited for as a
/// whole.
class DeviceQueue {
 public:
  /// @param users  the user's stream, alive as long as this. @throws DeviceError
  DeviceQueue(const Device& device, DeviceBackend::Stream users);
  /// Waits for what was begun.
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  const Device& device() const { return device_; }
  /// What is begun from now on waits for what the user's stream has to do now. @throws DeviceError, as all that follow
  void follow_user();
  /// Begins copies, of which none overlaps another one or its own source.
  void copy(std::span<const LocalCopy> copies);
  /// What the user's stream gets to do from now on waits for what was begun.
  void let_user_follow();
  /// Waits for what was begun.
  void wait();

 private:
  void release() noexcept;

  Device device_;
  DeviceBackend::Stream users_, own_ = nullptr;
  DeviceBackend::Event users_work_ = nullptr, own_work_ = nullptr;
};

/// Host memory that copies of a device reach at full speed; for 0 bytes nothing. @throws DeviceError
Memory::Buffer pinned_buffer(const Device& device, Bytes bytes);
/// Memory of a device; for 0 bytes nothing. @throws DeviceError
Memory::Buffer device_buffer(const Device& device, Bytes bytes);

}  // namespace commpass
