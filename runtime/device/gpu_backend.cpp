// GPUs of one kind, by the functions of their library.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "runtime/device/gpu_library.hpp"
#include "runtime/device/piece_kernels.hpp"

namespace commpass {

namespace {

using Address = GpuFunctions::Address;

// The same numbers in CUDA's and in HIP's interface.
constexpr int attribute_memory_type = 2, attribute_is_managed = 8, attribute_device = 9;
constexpr unsigned host_memory_for_all_devices = 1, stream_beside_the_default = 1, event_without_time = 2;

Address number(const void* address) { return reinterpret_cast<Address>(address); }
std::byte* pointer(Address address) { return reinterpret_cast<std::byte*>(address); }  // NOLINT

class GpuBackend final : public DeviceBackend {
 public:
  explicit GpuBackend(std::unique_ptr<GpuLibrary> library) : library_(std::move(library)), call_(library_->functions) {}

  const char* name() const override { return library_->name(); }
  bool is_known_to_mpi() const override { return library_->is_known_to_mpi(); }
  int count() const override {
    int devices = 0;
    return call_.count(&devices) == 0 ? std::min(devices, most_devices) : 0;
  }
  DeviceIdentity identify(int device) const override {
    std::array<char, 256> name{}, place{};
    int handle = 0;
    check("find its device", call_.get_device(&handle, device));
    check("name its device", call_.device_name(name.data(), static_cast<int>(name.size()) - 1, handle));
    check("say where its device is", call_.device_place(place.data(), static_cast<int>(place.size()) - 1, handle));
    return {name.data(), place.data()};
  }
  void make_current(int device) override {
    void* before = nullptr;
    check("make its device current", library_->enter(device, &before));
  }
  std::optional<int> device_of(const void* address) const override {
    const auto type = attribute(attribute_memory_type, address);
    if (!type) return {};
    if (!library_->is_on_device(*type) && attribute(attribute_is_managed, address).value_or(0) == 0) return {};
    return attribute(attribute_device, address);
  }
  bool is_one_allocation(const void* address, Bytes bytes) const override {
    Address begin = 0;
    std::size_t size = 0;
    if (call_.address_range(&begin, &size, number(address)) == 0)
      return number(address) - begin + static_cast<std::size_t>(bytes) <= size;
    library_->forget_error();
    return false;
  }

  std::byte* allocate(int device, Bytes bytes) override {
    const OnDevice on(*this, device);
    Address memory = 0;
    check("allocate memory", call_.allocate(&memory, static_cast<std::size_t>(bytes)));
    return pointer(memory);
  }
  std::byte* allocate_pinned(int device, Bytes bytes) override {
    const OnDevice on(*this, device);
    void* memory = nullptr;
    check("allocate pinned host memory",
          call_.allocate_host(&memory, static_cast<std::size_t>(bytes), host_memory_for_all_devices));
    return static_cast<std::byte*>(memory);
  }
  Stream make_stream(int device) override {
    const OnDevice on(*this, device);
    Stream stream = nullptr;
    check("make a stream", call_.create_stream(&stream, stream_beside_the_default));
    return stream;
  }
  Event make_event(int device) override {
    const OnDevice on(*this, device);
    Event event = nullptr;
    check("make an event", call_.create_event(&event, event_without_time));
    return event;
  }
  void deallocate(int device, std::byte* memory) noexcept override {
    end(device, [&] { call_.deallocate(number(memory)); });
  }
  void free_pinned(int device, std::byte* memory) noexcept override {
    end(device, [&] { call_.free_host(memory); });
  }
  void free_stream(int device, Stream stream) noexcept override {
    end(device, [&] {
      call_.synchronize_stream(stream);
      call_.destroy_stream(stream);
    });
  }
  void free_event(int device, Event event) noexcept override {
    end(device, [&] { call_.destroy_event(event); });
  }

  void copy(int device, std::span<const LocalCopy> copies, Stream stream) override {
    const OnDevice on(*this, device);
    for (const auto& [from, to, bytes] : copies)
      if (bytes > 0) check("copy", library_->copy(to, from, bytes, stream));
  }
  std::string why_no_kernel(int device) override {
    auto& kernels = kernels_.at(static_cast<std::size_t>(device));
    std::call_once(kernels.are_tried, [&] {
      try {
        load(device, kernels);
        kernels.trouble = fault_of_kernels(*this, device);
      } catch (const DeviceError& error) {
        kernels.trouble = error.what();
      }
    });
    return kernels.trouble;
  }
  void copy_by_kernel(int device, std::span<const LocalCopy> copies, Stream stream) override {
    const LocalCopy* pieces = copies.data();
    unsigned long long count = copies.size();
    std::array<void*, 2> arguments{&pieces, &count};
    launch(device, &Kernels::copying, copies.size(), arguments.data(), stream);
  }
  void add_by_kernel(int device, std::span<const LocalCopy> additions, NumberType numbers, Stream stream) override {
    const LocalCopy* pieces = additions.data();
    unsigned long long count = additions.size(), type = static_cast<unsigned long long>(numbers);
    std::array<void*, 3> arguments{&pieces, &count, &type};
    launch(device, &Kernels::adding, additions.size(), arguments.data(), stream);
  }
  void record(int device, Event event, Stream stream) override {
    const OnDevice on(*this, device);
    check("record an event in a stream", call_.record_event(event, stream));
  }
  void wait_in_stream(int device, Stream stream, Event event) override {
    const OnDevice on(*this, device);
    check("let a stream wait", call_.stream_wait_event(stream, event, 0));
  }
  void synchronize(int device, Stream stream) override {
    const OnDevice on(*this, device);
    check("wait for a stream", call_.synchronize_stream(stream));
  }

  DeviceHandle share(int device, const void* address) override {
    const OnDevice on(*this, device);
    Address begin = 0;
    std::size_t size = 0;
    check("find an allocation", call_.address_range(&begin, &size, number(address)));
    DeviceHandle handle;
    check("share memory with another process", call_.get_handle(&handle.opaque, begin));
    handle.offset = static_cast<Bytes>(number(address) - begin);
    return handle;
  }
  std::byte* open(int device, const DeviceHandle& handle) override {
    const OnDevice on(*this, device);
    Address begin = 0;
    check("open memory of another process", call_.open_handle(&begin, handle.opaque, library_->with_peer_access));
    return pointer(begin);
  }
  void close(int device, std::byte* begin) noexcept override {
    end(device, [&] { call_.close_handle(number(begin)); });
  }

 private:
  /// While it lives, a device is that of the calling thread.
  class OnDevice {
   public:
    OnDevice(const GpuBackend& backend, int device) : library_(*backend.library_) {
      backend.check("make its device current", library_.enter(device, &before_));
    }
    ~OnDevice() { library_.leave(before_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

   private:
    GpuLibrary& library_;
    void* before_ = nullptr;
  };

  /// Those of one device.
  struct Kernels {
    std::once_flag are_tried;
    std::string image;  ///< which a library may read as long as the kernels are used
    void *copying = nullptr, *adding = nullptr;
    std::string trouble;  ///< why they are not used
  };

  void check(const char* what, int code) const {
    if (code != 0)
      throw DeviceError(
          fmt::format("{}: it could not {}: {} (code {}).", name(), what, library_->error_text(code), code));
  }

  std::optional<int> attribute(int which, const void* address) const {
    int value = 0;
    if (call_.pointer_attribute(&value, which, number(address)) == 0) return value;
    library_->forget_error();
    return {};
  }

  /// Frees a resource. Ignores errors: at the end of the process the library may be gone.
  template <class Action>
  void end(int device, Action action) noexcept {
    try {
      const OnDevice on(*this, device);
      action();
    } catch (const std::exception&) {  // NOLINT
    }
  }

  /// Loads the kernels until the process ends.
  void load(int device, Kernels& kernels) {
    const OnDevice on(*this, device);
    kernels.image = library_->kernel_image();
    void* module = nullptr;
    check("load the kernels for pieces", call_.load_module(&module, kernels.image.c_str()));
    check("find the kernel that copies pieces", call_.get_kernel(&kernels.copying, module, copy_pieces_name));
    check("find the kernel that adds pieces", call_.get_kernel(&kernels.adding, module, add_pieces_name));
  }

  void launch(int device, void* Kernels::*kernel, std::size_t pieces, void** arguments, Stream stream) {
    constexpr unsigned threads = 128, pieces_of_block = threads / 32, blocks_max = 1024;
    const auto blocks = std::clamp<std::size_t>((pieces + pieces_of_block - 1) / pieces_of_block, 1, blocks_max);
    const OnDevice on(*this, device);
    check("start a kernel for pieces",
          call_.launch(kernels_.at(static_cast<std::size_t>(device)).*kernel, static_cast<unsigned>(blocks), 1, 1,
                       threads, 1, 1, 0, stream, arguments, nullptr));
  }

  std::unique_ptr<GpuLibrary> library_;
  const GpuFunctions& call_;
  std::array<Kernels, most_devices> kernels_;
};

}  // namespace

DeviceBackend* make_gpu_backend(std::unique_ptr<GpuLibrary> library) {
  return new GpuBackend(std::move(library));  // NOLINT: until the process ends
}

}  // namespace commpass
