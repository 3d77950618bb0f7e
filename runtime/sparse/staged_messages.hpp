// Messages of sparse exchanges between a device and pinned host memory. Private to the runtime.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/device_queue.hpp"
#include "runtime/edges.hpp"

namespace commpass {

/// The messages of one exchange, or what it has brought. Kept from one to the next, it takes no pinned memory where no
/// more is needed.
class StagedMessages {
 public:
  /// @param users  the user's stream. @throws DeviceError, as all that follow
  StagedMessages(const Device& device, DeviceBackend::Stream users) : users_(users), queue_(device, users) {}
  bool serves(const Device& device, DeviceBackend::Stream users) const {
    return queue_.device() == device && users_ == users;
  }

  /// Copies messages from the device, after what the user's stream has to do now.
  /// @param edges  get their offsets in the result
  const std::byte* copy_out(const std::byte* buffer, std::vector<SendEdge>& edges);
  /// Room for bytes for the device; the earlier contents are lost.
  std::byte* room_for(Bytes bytes);
  /// Copies these bytes there, before what the user's stream gets to do from now on.
  void copy_in(std::byte* to, Bytes bytes);

 private:
  DeviceBackend::Stream users_;
  std::vector<LocalCopy> copies_;
  Bytes room_ = 0;
  Memory::Buffer pinned_;
  DeviceQueue queue_;  ///< last, so that it waits before memory goes
};

/// As many of them as exchanges are in flight at once.
class StagedMessagesPool {
 public:
  /// One that is not in use; it is free again when its last user drops it. @throws DeviceError, std::bad_alloc
  std::shared_ptr<StagedMessages> take(const Device& device, DeviceBackend::Stream users);

 private:
  std::vector<std::shared_ptr<StagedMessages>> all_;
};

}  // namespace commpass
