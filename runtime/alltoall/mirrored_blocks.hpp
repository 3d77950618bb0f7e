// Blocks of an all-to-all that lie on a device, in host memory with the same displacements. Private to the runtime.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/device/device_queue.hpp"

namespace commpass {

/// One side of a call. Kept from one call to the next, it takes no memory where no more is needed. Pinned memory
/// reaches from the first byte of any block to the last one.
class MirroredBlocks {
 public:
  /// Finds where they lie.
  /// @param buffer  of the user
  /// @param users   the user's stream
  /// @throws InputError for elements with gaps on a device; std::bad_alloc
  void assign(Side side, const void* buffer, const BlocksArgument& blocks, DeviceBackend::Stream users);
  /// There are none.
  void clear() { device_.reset(); }
  /// Nothing: in host memory, or nowhere.
  const std::optional<Device>& device() const { return device_; }
  /// Of copies between them and memory of ours.
  Ends ends() const { return ends_; }

  // If they lie on a device; of others nothing happens:
  /// From now on they are in host memory. @return where the call finds them. @throws DeviceError, std::bad_alloc
  void* stage();
  /// From the device, after what the user's stream has to do now.
  void copy_out();
  /// To the device, before what the user's stream gets to do from now on.
  void copy_in();

 private:
  void add_range(std::byte* at, Bytes bytes);

  std::byte* users_ = nullptr;
  std::optional<Device> device_;
  DeviceBackend::Stream stream_ = nullptr, streams_of_queue_ = nullptr;
  std::vector<LocalCopy> copies_;  ///< from the device
  Ends ends_ = Ends::anywhere;
  std::byte* begin_ = nullptr;  ///< the first byte of all, at the user's
  Bytes bytes_ = 0, room_ = 0;
  Memory::Buffer host_;
  std::unique_ptr<DeviceQueue> queue_;
};

}  // namespace commpass
