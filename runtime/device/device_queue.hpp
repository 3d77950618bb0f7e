// A stream of our own on a device, ordered with the user's by events. Private to the runtime.
#pragma once

#include <optional>
#include <span>

#include "runtime/device/device_backend.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

/// Where the ends of copies lie: a kernel reaches what its device has in one allocation, and pinned memory.
enum class Ends { anywhere, reached };

/// Begins copies and orders them. Nothing is allocated but a table of pieces, which grows until the largest batch has
/// been there, and the device is never waited for as a whole.
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
  /// Begins copies, of which none overlaps another one or its own source. Where a kernel reaches them, small ones, if
  /// they are many, are made by one, where there is one.
  void copy(std::span<const LocalCopy> copies, Ends ends = Ends::anywhere);
  /// Would most of so many pieces be copied by the kernel?
  bool packs(std::size_t pieces, Bytes bytes);
  /// All by the kernel, whether there is nothing against it or not.
  void copy_by_kernel(std::span<const LocalCopy> copies);
  /// What the user's stream gets to do from now on waits for what was begun.
  void let_user_follow();
  /// Waits for what was begun.
  void wait();

 private:
  void release() noexcept;
  bool has_kernel();
  LocalCopy* make_room(std::size_t pieces);

  Device device_;
  DeviceBackend::Stream users_, own_ = nullptr;
  DeviceBackend::Event users_work_ = nullptr, own_work_ = nullptr;
  std::optional<bool> has_kernel_{};  ///< absent: not asked yet
  Memory::Buffer table_;              ///< pinned, from which kernels read what they are to copy
  std::size_t room_ = 0, used_ = 0;   ///< in pieces; those in use may be read until somebody waits
};

/// Host memory that copies of a device reach at full speed; for 0 bytes nothing. @throws DeviceError
Memory::Buffer pinned_buffer(const Device& device, Bytes bytes);
/// Memory of a device; for 0 bytes nothing. @throws DeviceError
Memory::Buffer device_buffer(const Device& device, Bytes bytes);

}  // namespace commpass
