// What Commpass asks of devices that have memory of their own: GPUs by their driver, and an emulated one in tests.
// Private to the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/base/error.hpp"
#include "model/base/types.hpp"
#include "runtime/execute/local_copy.hpp"

namespace commpass {

/// A call of a device's driver failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// How another process of the node gets at memory of a device.
struct DeviceHandle {
  std::array<std::byte, 64> opaque{};  ///< of the whole allocation; both CUDA and HIP take 64 bytes
  Bytes offset = 0;                    ///< of the address, in the allocation
};

/// What a device is.
struct DeviceIdentity {
  std::string name;   ///< of its model
  std::string place;  ///< tells it from the others of its node, alike in all processes
};

/// Devices of one kind. Work that is begun in a stream is done in the order of that stream; its copies may be under way
/// when a call returns. An object serves all threads.
class DeviceBackend {
 public:
  using Stream = void*;  ///< of the user, too: a cudaStream_t or hipStream_t. Null is the default stream
  using Event = void*;

  virtual ~DeviceBackend() = default;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;

  virtual const char* name() const = 0;
  /// Does the MPI library that runs take addresses of such memory?
  virtual bool is_known_to_mpi() const = 0;
  /// How many this process sees. They are numbered from 0 on.
  virtual int count() const = 0;
  /// @throws DeviceError
  virtual DeviceIdentity identify(int device) const = 0;
  /// Some MPI libraries take memory of the calling thread's device only: from now on, this one. @throws DeviceError
  virtual void make_current(int device) = 0;
  /// The device whose memory is there, also if it is managed; nothing: host memory, or that of other devices.
  virtual std::optional<int> device_of(const void* address) const = 0;
  /// Do all these bytes belong to one allocation of a device?
  virtual bool is_one_allocation(const void* address, Bytes bytes) const = 0;

  /// @throws DeviceError, as all that follow but what ends something
  virtual std::byte* allocate(int device, Bytes bytes) = 0;
  virtual void deallocate(int device, std::byte* memory) noexcept = 0;
  /// Host memory that copies reach at full speed.
  virtual std::byte* allocate_pinned(int device, Bytes bytes) = 0;
  virtual void free_pinned(int device, std::byte* memory) noexcept = 0;

  virtual Stream make_stream(int device) = 0;
  /// Waits for what it has to do.
  virtual void free_stream(int device, Stream stream) noexcept = 0;
  virtual Event make_event(int device) = 0;
  virtual void free_event(int device, Event event) noexcept = 0;

  /// Begins copies between any memories, of which none overlaps another one or its own source.
  virtual void copy(int device, std::span<const LocalCopy> copies, Stream stream) = 0;
  /// Why one kernel cannot make many copies, in a sentence; empty: it can. Asked for the first time, the kernel is
  /// tried out.
  virtual std::string why_no_kernel(int device) = 0;
  /// Begins copies, as copy(), by one kernel. Only where there is nothing against it.
  /// @param copies  in pinned memory, and there unchanged until they are done. Their ends are memory of the device or
  /// pinned
  virtual void copy_by_kernel(int device, std::span<const LocalCopy> copies, Stream stream) = 0;
  /// The event is what the stream has to do up to now.
  virtual void record(int device, Event event, Stream stream) = 0;
  /// What the stream gets to do from now on waits for the event.
  virtual void wait_in_stream(int device, Stream stream, Event event) = 0;
  /// Waits until a stream of ours has done what it has to do.
  virtual void synchronize(int device, Stream stream) = 0;

  virtual DeviceHandle share(int device, const void* address) = 0;
  /// Memory of another process. Where it begins is to be closed.
  virtual std::byte* open(int device, const DeviceHandle& handle) = 0;
  virtual void close(int device, std::byte* begin) noexcept = 0;

 protected:
  DeviceBackend() = default;
};

/// A device, and who reaches it.
struct Device {
  DeviceBackend* backend = nullptr;
  int number = 0;
  bool operator==(const Device&) const = default;
};

}  // namespace commpass
