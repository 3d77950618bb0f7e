// The interface of devices with memory of their own: GPUs by their driver, and an emulated one in tests. Private to the
// runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/base/error.hpp"
#include "model/base/types.hpp"
#include "runtime/addition.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

/// A call of a device's driver failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Opens memory of a device in another process of the node.
struct DeviceHandle {
  std::array<std::byte, 64> opaque{};  ///< of the whole allocation; both CUDA and HIP take 64 bytes
  Bytes offset = 0;                    ///< of the address, in the allocation
};

struct DeviceIdentity {
  std::string name;   ///< of its model
  std::string place;  ///< distinguishes the devices of a node, the same in all processes
};

/// Devices of one kind. A stream runs its work in order; its copies may be under way when a call returns. Thread-safe.
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
  /// The devices that this process sees, numbered from 0.
  virtual int count() const = 0;
  /// @throws DeviceError
  virtual DeviceIdentity identify(int device) const = 0;
  /// Sets the calling thread's device, because some MPI libraries take memory of that device only. @throws DeviceError
  virtual void make_current(int device) = 0;
  /// The device that has the address, also in managed memory; nothing: host memory, or memory of other backends.
  virtual std::optional<int> device_of(const void* address) const = 0;
  /// Do all these bytes belong to one allocation of a device?
  virtual bool is_one_allocation(const void* address, Bytes bytes) const = 0;

  /// @throws DeviceError, as all that follow without noexcept
  virtual std::byte* allocate(int device, Bytes bytes) = 0;
  virtual void deallocate(int device, std::byte* memory) noexcept = 0;
  /// Host memory that copies reach at full speed.
  virtual std::byte* allocate_pinned(int device, Bytes bytes) = 0;
  virtual void free_pinned(int device, std::byte* memory) noexcept = 0;

  virtual Stream make_stream(int device) = 0;
  /// Waits for its work.
  virtual void free_stream(int device, Stream stream) noexcept = 0;
  virtual Event make_event(int device) = 0;
  virtual void free_event(int device, Event event) noexcept = 0;

  /// Begins copies between any memories, of which none overlaps another one or its own source.
  virtual void copy(int device, std::span<const LocalCopy> copies, Stream stream) = 0;
  /// Why kernels make neither many copies nor additions, in a sentence; empty: they do. The first call tries them.
  virtual std::string why_no_kernel(int device) = 0;
  /// Begins copies, as copy(), by one kernel. Only if why_no_kernel() is empty.
  /// @param copies  in pinned memory, unchanged until they are done. Their ends are memory of the device or pinned
  virtual void copy_by_kernel(int device, std::span<const LocalCopy> copies, Stream stream) = 0;
  /// Likewise, begins to add the numbers of each piece to those where it goes, whose targets do not overlap.
  /// @param numbers  not others; they are aligned
  virtual void add_by_kernel(int device, std::span<const LocalCopy> pieces, NumberType numbers, Stream stream) = 0;
  /// The event completes after the present work of the stream.
  virtual void record(int device, Event event, Stream stream) = 0;
  /// Later work of the stream waits for the event.
  virtual void wait_in_stream(int device, Stream stream, Event event) = 0;
  /// Waits for the work of a stream of ours.
  virtual void synchronize(int device, Stream stream) = 0;

  virtual DeviceHandle share(int device, const void* address) = 0;
  /// Maps memory of another process. @return its begin, for close()
  virtual std::byte* open(int device, const DeviceHandle& handle) = 0;
  virtual void close(int device, std::byte* begin) noexcept = 0;

 protected:
  DeviceBackend() = default;
};

/// A device of a backend.
struct Device {
  DeviceBackend* backend = nullptr;
  int number = 0;
  bool operator==(const Device&) const = default;
};

}  // namespace commpass
