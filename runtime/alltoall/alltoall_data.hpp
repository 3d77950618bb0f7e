// The data of an all-to-all that is called once: the blocks of its arguments, on a device or not, and how they get into
// messages. Private to the runtime.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/route/data_path.hpp"
#include "runtime/alltoall/alltoall_places.hpp"
#include "runtime/device/staged_bytes.hpp"
#include "runtime/plan/planning.hpp"

namespace commpass {

/// Both sides of a call on this rank. Messages are the same by any path, so each rank may take another one. Kept from
/// one call to the next, it takes no memory where no more is needed.
class AlltoallData {
 public:
  /// Takes what memory any number of calls needs for their blocks. @throws std::bad_alloc
  void make_room(int ranks);
  /// Another call. @param users  the user's stream
  /// @throws InputError for wrong arguments (TypedBlocks::assign), and for elements with gaps on a device;
  /// std::bad_alloc
  void assign(const AlltoallCall& call, MPI_Comm comm, DeviceBackend::Stream users);

  bool is_in_place() const { return call_.is_in_place(); }
  /// The size of every block, if all ranks know it.
  std::optional<Bytes> block_bytes() const;
  /// The blocks that are sent, by rank.
  const TypedBlocks& sent() const { return is_in_place() ? receives_.blocks : sends_.blocks; }
  const TypedBlocks& received() const { return receives_.blocks; }
  /// Are elements of types that cannot be freed?
  bool are_named() const {
    const auto is_named = [](const TypedBlocks& blocks, MPI_Datatype type) {
      return blocks.types().size() == 1 && blocks.types().front().is_named(type);
    };
    return is_named(sends_.blocks, call_.sends.type) && is_named(receives_.blocks, call_.receives.type);
  }
  /// Has the MPI library numbers as large as those of its own call?
  bool is_countable() const;
  /// Is any of it on a device, and may MPI not get its address?
  DeviceUse use() const;
  /// @throws InputError where MPI may not get addresses on a device
  void require_for_mpi(const std::string& place) const;

  /// Brings the sent data to where the exchange sends from.
  /// @param path  of data on devices. It is staged, by this rank alone, unless MPI shall and may get its address
  /// @throws DeviceError, std::bad_alloc
  void begin(const DataPath& path);
  // Then:
  AlltoallSide sends() const { return {&sends_.blocks, from_, is_there_}; }
  AlltoallSide receives() const { return {&receives_.blocks, to_}; }
  AlltoallSpace& space() { return *space_; }
  /// The call of the MPI library, as an MPI_Alltoall or an MPI_Alltoallv: the blocks of a w are bytes, and packed
  /// unless all of a side lie as they travel. Its lists live as long as this.
  AlltoallCall library_call();
  /// Moves received blocks to their places. @throws DeviceError, MpiError
  void end();

 private:
  /// The blocks of one side, which lie on a device or not.
  struct Half {
    TypedBlocks blocks{};
    std::byte* users = nullptr;
    std::optional<Device> device{};  ///< nothing: in host memory, or nowhere
    StagedRanges ranges{};           ///< mirrored: with the displacements of the user's buffer
    Ends ends = Ends::anywhere;      ///< of copies between them and memory of ours
    std::unique_ptr<StagedBuffer> staged{};
    std::vector<Bytes> counts{}, displacements{};  ///< as bytes

    void assign(const char* name, const CallSide& side, MPI_Comm comm);
    /// Room for them in host memory, if they lie on a device. @return where the call finds them
    void* stage(DeviceBackend::Stream stream);
    CallSide as_bytes(const void* buffer);
  };
  /// Why MPI may not get addresses.
  enum class Obstacle { none, two_devices, gaps_in_host_memory, mpi };
  Obstacle obstacle() const;
  bool is_used() const { return sends_.device || receives_.device; }
  const Device& device() const { return sends_.device ? *sends_.device : *receives_.device; }
  Ends ends() const;
  void open_device();
  void send_in_place();

  AlltoallCall call_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  DeviceBackend::Stream stream_ = nullptr;
  Half sends_, receives_;
  const void* from_ = nullptr;  ///< the buffers of the exchange,
  void* to_ = nullptr;
  AlltoallSpace* space_ = nullptr;  ///< and the space in which it takes place
  bool is_there_ = true, is_staged_ = false, is_in_bytes_ = false;
  AlltoallSpace on_host_, on_device_;
  std::unique_ptr<DeviceQueue> queue_;  ///< of the device in whose memory messages are, if any ever were
  std::optional<DeviceMemory> memory_;
  CopyList copies_;  ///< of blocks that are sent from a receive buffer
};

}  // namespace commpass
