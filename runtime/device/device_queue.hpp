// A stream of our own on a device, ordered with the user's by events, and memory whose copies it makes. Private to the
// runtime.
#pragma once

#include <optional>
#include <span>

#include "runtime/device/device_backend.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

/// Where the ends of copies lie: a kernel reaches one allocation of its device, and pinned memory.
enum class Ends { anywhere, reached };

/// Begins copies and orders them. Allocates only a table of pieces, which grows up to the largest batch. Never waits
/// for the whole device.
class DeviceQueue {
 public:
  /// @param users  the user's stream, alive as long as this. @throws DeviceError
  DeviceQueue(const Device& device, DeviceBackend::Stream users);
  /// Waits for its copies.
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  const Device& device() const { return device_; }
  bool serves(const Device& device, DeviceBackend::Stream users) const { return device_ == device && users_ == users; }
  /// Later copies wait for the present work of the user's stream. @throws DeviceError, as all that follow
  void follow_user();
  /// Begins copies, of which none overlaps another one or its own source. If there is a kernel that reaches them, it
  /// makes the small ones, unless they are few (worth_a_kernel).
  void copy(std::span<const LocalCopy> copies, Ends ends = Ends::anywhere);
  /// Would the kernel copy most of these pieces?
  bool packs(std::size_t pieces, Bytes bytes);
  /// Makes all copies by the kernel, even if why_no_kernel() has a reason against it.
  void copy_by_kernel(std::span<const LocalCopy> copies);
  /// Begins to add the numbers of each piece to those where it goes, whose targets do not overlap. Only if
  /// why_no_kernel() is empty, and between memories that kernels reach.
  void add_by_kernel(std::span<const LocalCopy> pieces, NumberType numbers);
  /// Later work of the user's stream waits for the copies that were begun.
  void let_user_follow();
  /// Waits for the copies that were begun.
  void wait();

 private:
  void release() noexcept;
  bool has_kernel();
  std::span<const LocalCopy> table_of(std::span<const LocalCopy> pieces);
  LocalCopy* make_room(std::size_t pieces);

  Device device_;
  DeviceBackend::Stream users_, own_ = nullptr;
  DeviceBackend::Event users_work_ = nullptr, own_work_ = nullptr;
  std::optional<bool> has_kernel_{};  ///< absent: not asked yet
  Memory::Buffer table_;              ///< of pieces that kernels copy or add, in pinned memory
  std::size_t room_ = 0, used_ = 0;   ///< in pieces; kernels may read the used ones until wait()
};

/// Host memory that copies of a device reach at full speed; null for 0 bytes. @throws DeviceError
Memory::Buffer pinned_buffer(const Device& device, Bytes bytes);
/// Memory of a device; null for 0 bytes. @throws DeviceError
Memory::Buffer device_buffer(const Device& device, Bytes bytes);

/// The memory of a device, for requests.
class DeviceMemory final : public Memory {
 public:
  /// @param queue  alive as long as this
  /// @param ends   of copies between the user's buffers, or between one of them and memory of the device
  DeviceMemory(DeviceQueue& queue, Ends ends) : queue_(queue), ends_(ends) {}
  Buffer allocate(Bytes bytes) override { return device_buffer(queue_.device(), bytes); }
  void copy(std::span<const LocalCopy> copies) override { queue_.copy(copies, ends_); }
  void order() override { queue_.wait(); }

 private:
  DeviceQueue& queue_;
  Ends ends_;
};

}  // namespace commpass
