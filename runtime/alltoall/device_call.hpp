// The data of a one-shot all-to-all that lies on a device, and how it gets into messages. Private to the runtime.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/route/data_path.hpp"
#include "runtime/alltoall/alltoall_space.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/device/staged_bytes.hpp"
#include "runtime/plan/opening.hpp"

namespace commpass {

/// Both sides of a call on this rank. Messages are the same by any path, so each rank may take another one. Kept from
/// one call to the next, it takes no memory where no more is needed.
class DeviceCall {
 public:
  /// Finds where they lie. @param users  the user's stream.
  /// @throws InputError for elements with gaps on a device; std::bad_alloc
  void find(const AlltoallCall& call, const AlltoallvArguments& arguments, DeviceBackend::Stream users);
  /// Is any of it on a device, and may MPI not get its address?
  DeviceUse use() const;
  /// @throws InputError where MPI may not get addresses on a device
  void require_for_mpi(const std::string& place) const;

  struct Buffers {
    const void* send = nullptr;
    void* receive = nullptr;
    AlltoallSpace* space = nullptr;  ///< in which the exchange takes place
  };
  /// The buffers that the exchange sends from and receives into; the send buffer is filled.
  /// @param path  of data on devices. It is staged, by this rank alone, unless MPI shall and may get its address
  /// @throws DeviceError, std::bad_alloc
  Buffers begin(const DataPath& path);
  /// Moves received blocks to their places. @throws DeviceError
  void end();

 private:
  /// The blocks of one side, which lie on a device or not.
  struct Blocks {
    std::byte* users = nullptr;
    std::optional<Device> device{};  ///< nothing: in host memory, or nowhere
    StagedRanges ranges{};           ///< mirrored: with the displacements of the user's buffer
    Ends ends = Ends::anywhere;      ///< of copies between them and memory of ours
    std::unique_ptr<StagedBuffer> staged{};

    void find(Side side, const void* buffer, const BlocksArgument& argument);
    /// Room for them in host memory, if they lie on a device. @return where the call finds them
    void* stage(DeviceBackend::Stream stream);
    void copy_out() const {
      if (device) staged->read(users, ends);
    }
    void copy_in() const {
      if (device) staged->write(users, ends);
    }
  };
  /// Why MPI may not get addresses.
  enum class Obstacle { none, two_devices, gaps_in_host_memory, mpi };
  Obstacle obstacle() const;
  bool is_used() const { return sends_.device || receives_.device; }
  const Device& device() const { return sends_.device ? *sends_.device : *receives_.device; }
  Ends ends() const;
  void open_device();

  const void* sendbuf_ = nullptr;
  void* recvbuf_ = nullptr;
  DeviceBackend::Stream stream_ = nullptr;
  bool is_in_place_ = false, has_gaps_ = false, is_staged_ = false;
  Blocks sends_, receives_;
  AlltoallSpace on_host_, on_device_;
  std::unique_ptr<DeviceQueue> queue_;  ///< of the device in whose memory messages are, if any ever were
  std::optional<DeviceMemory> memory_;
};

}  // namespace commpass
