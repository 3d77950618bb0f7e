// Bytes of a user's buffer on a device, in pinned host memory of ours. Private to the runtime.
#pragma once

#include <vector>

#include "runtime/device/device_queue.hpp"
#include "runtime/device/staged_ranges.hpp"

namespace commpass {

/// Copies some ranges of one buffer to host memory, or back. Kept from one exchange to the next, it takes no memory
/// where no more is needed.
class StagedBytes {
 public:
  /// Has room for these ranges from now on; the earlier contents are lost.
  /// @param queue  makes their copies; alive as long as these are under way
  /// @throws DeviceError, std::bad_alloc
  void assign(const StagedRanges& ranges, DeviceQueue& queue);
  const StagedRanges& ranges() const { return ranges_; }
  /// Each range at its place.
  std::byte* host() const { return host_.data(); }

  // Begin copies of the ranges of a user's buffer. @param ends  of copies between it and ours. @throws DeviceError
  void copy_out(const void* users, Ends ends);
  void copy_in(void* users, Ends ends);
  /// From the buffer, after what the user's stream has to do now; waits.
  void read(const void* users, Ends ends);
  /// To the buffer, between what the user's stream has to do now and what it gets to do from now on.
  void write(void* users, Ends ends);

 private:
  DeviceQueue* queue_ = nullptr;
  StagedRanges ranges_;
  GrowingMemory host_;
  std::vector<LocalCopy> copies_;
};

/// Likewise, with a queue of its own.
class StagedBuffer : public StagedBytes {
 public:
  /// @param users  the user's stream. @throws DeviceError
  StagedBuffer(const Device& device, DeviceBackend::Stream users) : queue_(device, users) {}
  DeviceQueue& queue() { return queue_; }
  void assign(const StagedRanges& ranges) { StagedBytes::assign(ranges, queue_); }

 private:
  DeviceQueue queue_;  ///< waits for its copies before their memory goes
};

}  // namespace commpass
