// Emulated devices: memory that the host cannot access, and work that runs as late as possible.
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

/// Memory is mapped twice: for users without access rights, so that an access crashes, as with a GPU's; and for copies.
/// Work in a stream runs when a caller waits for it, and not before: so a missing wait gives wrong bytes every time.
class EmulatedDevices final : public DeviceBackend {
 public:
  /// The devices of this process; from the first call on, device_of() finds them.
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
  void deallocate(int, std::byte* memory) noexcept override { unmap(memory); }
  std::byte* allocate_pinned(int device, Bytes bytes) override;
  void free_pinned(int, std::byte* memory) noexcept override { pinned_.erase(memory); }
  Stream make_stream(int device) override;
  void free_stream(int device, Stream stream) noexcept override;
  Event make_event(int device) override;
  void free_event(int, Event event) noexcept override { events_.erase(event); }
  void copy(int device, std::span<const LocalCopy> copies, Stream stream) override;
  std::string why_no_kernel(int device) override;
  void copy_by_kernel(int device, std::span<const LocalCopy> copies, Stream stream) override;
  void add_by_kernel(int device, std::span<const LocalCopy> pieces, NumberType numbers, Stream stream) override;
  void record(int device, Event event, Stream stream) override;
  void wait_in_stream(int device, Stream stream, Event event) override;
  void synchronize(int device, Stream stream) override;
  DeviceHandle share(int device, const void* address) override;
  std::byte* open(int device, const DeviceHandle& handle) override;
  void close(int, std::byte* begin) noexcept override { unmap(begin); }

  /// Behaviour of the kernels for pieces.
  enum class Kernel { right, copies_wrongly, adds_wrongly, absent };
  void have_kernel(Kernel kernel) {
    kernel_ = kernel;
    fault_.reset();
  }
  bool is_pinned(const void* address) const;
  /// Pieces that it has copied, and added, so far.
  std::size_t pieces() const { return pieces_; }
  std::size_t additions() const { return additions_; }
  /// A kernel of the user.
  void launch(Stream stream, std::function<void()> kernel);
  /// The mapping of an address for kernels and copies; host addresses are unchanged.
  std::byte* inside(const void* address) const;
  /// Number of memories, streams and events that are not freed.
  std::size_t alive() const;
  /// Number of memories, streams and events that were made so far.
  std::size_t made() const { return made_; }
  /// Copies that were begun so far, except those of kernels.
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
  void check_reach(std::span<const LocalCopy> pieces) const;

  Allocations allocations_;
  std::map<Stream, std::shared_ptr<Queue>> queues_{{nullptr, std::make_shared<Queue>()}};
  std::map<Event, std::unique_ptr<Mark>> events_;
  std::map<std::byte*, Pinned> pinned_;
  std::size_t copies_ = 0, pieces_ = 0, additions_ = 0, made_ = 0;
  Kernel kernel_ = Kernel::right;
  std::optional<std::string> fault_{};  ///< of that kernel, once it was tried
};

/// Memory of a device, for the data of a test.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes, int device = 0);
  ~DeviceBytes();
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  std::byte* data() const { return memory_; }
  /// Asynchronous, in stream order.
  void write(std::vector<std::byte> bytes, DeviceBackend::Stream stream);
  /// The bytes after all work of the stream.
  std::vector<std::byte> read(DeviceBackend::Stream stream) const;

 private:
  int device_;
  std::size_t bytes_;
  std::byte* memory_;
};

/// A stream of the user.
class UsersStream {
 public:
  UsersStream() : stream_(EmulatedDevices::get().make_stream(0)) {}
  ~UsersStream() { EmulatedDevices::get().free_stream(0, stream_); }
  UsersStream(const UsersStream&) = delete;
  UsersStream& operator=(const UsersStream&) = delete;
  DeviceBackend::Stream get() const { return stream_; }

 private:
  DeviceBackend::Stream stream_;
};

}  // namespace commpass::test
