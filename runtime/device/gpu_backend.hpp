// GPUs of one kind, by the functions of their library. Private to the runtime.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/device/gpu_library.hpp"

namespace commpass {

class GpuBackend final : public DeviceBackend {
 public:
  explicit GpuBackend(std::unique_ptr<GpuLibrary> library) : library_(std::move(library)) {}

  const char* name() const override { return library_->name(); }
  bool is_known_to_mpi() const override { return library_->is_known_to_mpi(); }
  int count() const override;
  DeviceIdentity identify(int device) const override;
  void make_current(int device) override;
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

 private:
  class OnDevice;
  /// That of one device.
  struct Kernel {
    std::once_flag is_tried;
    std::string image;  ///< which a library may read as long as the kernel is used
    void* function = nullptr;
    std::string trouble;  ///< why it is not used
  };
  void check(const char* what, int code) const;
  void load(int device, Kernel& kernel);

  std::unique_ptr<GpuLibrary> library_;
  std::array<Kernel, most_devices> kernels_;
};

}  // namespace commpass
