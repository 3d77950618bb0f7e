// Devices that are not there: memory that the host cannot touch, and work that is done as late as can be.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/device/device_backend.hpp"

namespace commpass::test {

/// Memory is mapped twice: where it is given out without any rights, so that any access there crashes, as with
/// a GPU's; and elsewhere for the copies. An operation of a stream runs when a caller waits for it, and not before:
/// so a wait that is missing gives wrong bytes every time.
class EmulatedDevices final : public DeviceBackend {
 public:
  /// The ones of this process, where device_of() finds them from the first call on.
  static EmulatedDevices& get();

  const char* name() const override { return "emulated"; }
  /// As for CUDA, so that a stand-in for the MPI library answers.
  bool is_known_to_mpi() const override;
  int count() const override { return 2; }
  DeviceIdentity identify(int device) const override {
    return {"protected pages", "emulated:" + std::to_string(device)};
  }
  void make_current(int) override {}
  std::optional<int> device_of(const void* address) const override;
  bool is_one_allocation(const void* address, Bytes bytes) const override;
  std::byte* allocate(int device, Bytes bytes) override;
  void deallocate(int device, std::byte* memory) noexcept override;
  std::byte* allocate_pinned(int device, Bytes bytes) override;
  void free_pinned(int device, std::byte* memory) noexcept override;
  Stream make_stream(int device) override;
  void free_stream(int device, Stream stream) noexcept override;
  Event make_event(int device) override;
  void free_event(int device, Event event) noexcept override;
  void copy(int device, std::span<const LocalCopy> copies, Stream stream) override;
  std::string why_no_kernel(int device) override;
  void copy_by_kernel(int device, std::span<const LocalCopy> copies, Stream stream) override;
  void record(int device, Event event, Stream stream) override;
  void wait_in_stream(int device, Stream stream, Event event) override;
  void synchronize(int device, Stream stream) override;
  DeviceHandle share(int device, const void* address) override;
  std::byte* open(int device, const DeviceHandle& handle) override;
  void close(int device, std::byte* begin) noexcept override;

  /// What its kernel for pieces does, from now on.
  enum class Kernel { right, wrong, absent };
  void have_kernel(Kernel kernel) {
    kernel_ = kernel;
    fault_.reset();
  }
  bool is_pinned(const void* address) const;
  /// How many pieces it has copied so far.
  std::size_t pieces() const { return pieces_; }
  /// A kernel of the user.
  void launch(Stream stream, std::function<void()> kernel);
  /// Where kernels and copies find the bytes of an address; that of the host is its own.
  std::byte* inside(const void* address) const;
  /// Of all that was allocated and not freed: memory, streams and events.
  std::size_t alive() const;
  /// How often memory, streams and events were made so far.
  std::size_t made() const { return made_; }
  /// How many copies were begun so far, but for those of kernels.
  std::size_t copies() const { return copies_; }

 private:
  struct Allocation {
    int device = 0, file = -1;
    Bytes bytes = 0;
    std::byte* inside = nullptr;
  };
  struct Queue {
    std::deque<std::function<void()>> work;
    std::size_t begun = 0, done = 0;
    void run(std::size_t until);
  };
  struct Mark {
    std::shared_ptr<Queue> queue;
    std::size_t at = 0;
  };

  struct Pinned {
    Bytes bytes = 0;
    std::unique_ptr<std::byte[]> memory;
  };

  using Allocations = std::map<std::uintptr_t, Allocation>;
  Allocations::const_iterator find(const void* address) const;
  std::byte* map(int device, int file, Bytes bytes);
  void unmap(std::byte* memory) noexcept;
  std::shared_ptr<Queue> queue(Stream stream);

  Allocations allocations_;
  std::map<Stream, std::shared_ptr<Queue>> queues_{{nullptr, std::make_shared<Queue>()}};
  std::map<Event, std::unique_ptr<Mark>> events_;
  std::map<std::byte*, Pinned> pinned_;
  std::size_t copies_ = 0, pieces_ = 0, made_ = 0;
  Kernel kernel_ = Kernel::right;
  std::optional<std::string> fault_{};  ///< of that kernel, once it was tried
};

/// Memory of a device, for what a test keeps there.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes, int device = 0);
  ~DeviceBytes();
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  std::byte* data() const { return memory_; }
  /// When the stream comes to it, which is not now.
  void write(std::vector<std::byte> bytes, DeviceBackend::Stream stream);
  /// The contents when all of the stream is done.
  std::vector<std::byte> read(DeviceBackend::Stream stream) const;

 private:
  int device_;
  std::size_t bytes_;
  std::byte* memory_;
};

}  // namespace commpass::test
