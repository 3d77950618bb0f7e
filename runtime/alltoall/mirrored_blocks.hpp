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
  /// @param buffer  of the user; blocks in host memory stay there
  /// @param users   the user's stream
  /// @throws InputError for elements with gaps on a device; DeviceError, std::bad_alloc
  void assign(Side side, const void* buffer, const BlocksArgument& blocks, DeviceBackend::Stream users);
  /// Where the call finds the blocks.
  void* buffer() const;
  /// From the device, after what the user's stream has to do now.
  void copy_out();
  /// To the device, before what the user's stream gets to do from now on.
  void copy_in();

 private:
  void add_range(std::byte* at, Bytes bytes);

  std::byte* users_ = nullptr;
  std::optional<Device> device_;
  DeviceBackend::Stream stream_ = nullptr;
  std::vector<LocalCopy> copies_;  ///< from the device; `to` counts from the first byte of all
  Ends ends_ = Ends::anywhere;
  std::byte* begin_ = nullptr;  ///< that byte, at the user's
  Bytes room_ = 0;
  Memory::Buffer host_;
  std::unique_ptr<DeviceQueue> queue_;
};

/// Both sides of a call.
class MirroredCall {
 public:
  struct Buffers {
    const void* send;
    void* receive;
  };
  /// Where the call finds what it sends and where it shall put what it gets; what is sent is there.
  /// @throws as MirroredBlocks::assign
  Buffers begin(const void* sendbuf, void* recvbuf, const AlltoallvArguments& arguments, DeviceBackend::Stream users);
  /// What has come goes to where it belongs. @throws DeviceError
  void end() { receives_.copy_in(); }

 private:
  MirroredBlocks sends_, receives_;
};

}  // namespace commpass
