#include "runtime/device/gpu_backend.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/device/piece_kernel.hpp"

namespace commpass {

namespace {

// The same numbers in CUDA's and in HIP's interface.
constexpr int attribute_memory_type = 2, attribute_is_managed = 8, attribute_device = 9;
constexpr unsigned host_memory_for_all_devices = 1, stream_beside_the_default = 1, event_without_time = 2;

GpuFunctions::Address number(const void* address) { return reinterpret_cast<GpuFunctions::Address>(address); }
std::byte* pointer(GpuFunctions::Address address) { return reinterpret_cast<std::byte*>(address); }  // NOLINT

}  // namespace

/// While it lives, a device is that of the calling thread.
class GpuBackend::OnDevice {
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

void GpuBackend::check(const char* what, int code) const {
  if (code != 0)
    throw DeviceError(
        fmt::format("{}: it could not {}: {} (code {}).", name(), what, library_->error_text(code), code));
}

int GpuBackend::count() const {
  int devices = 0;
  return library_->functions.count(&devices) == 0 ? std::min(devices, most_devices) : 0;
}

DeviceIdentity GpuBackend::identify(int device) const {
  std::array<char, 256> name{}, place{};
  const auto& functions = library_->functions;
  int handle = 0;
  check("find its device", functions.get_device(&handle, device));
  check("name its device", functions.device_name(name.data(), static_cast<int>(name.size()) - 1, handle));
  check("say where its device is", functions.device_place(place.data(), static_cast<int>(place.size()) - 1, handle));
  return {name.data(), place.data()};
}

void GpuBackend::make_current(int device) {
  void* before = nullptr;
  check("make its device current", library_->enter(device, &before));
}

std::optional<int> GpuBackend::device_of(const void* address) const {
  const auto attribute = [&](int which) -> std::optional<int> {
    int value = 0;
    if (library_->functions.pointer_attribute(&value, which, number(address)) == 0) return value;
    library_->forget_error();
    return {};
  };
  const auto type = attribute(attribute_memory_type);
  if (!type) return {};
  if (!library_->is_on_device(*type) && attribute(attribute_is_managed).value_or(0) == 0) return {};
  return attribute(attribute_device);
}

bool GpuBackend::is_one_allocation(const void* address, Bytes bytes) const {
  GpuFunctions::Address begin = 0;
  std::size_t size = 0;
  if (library_->functions.address_range(&begin, &size, number(address)) != 0) {
    library_->forget_error();
    return false;
  }
  return number(address) - begin + static_cast<std::size_t>(bytes) <= size;
}

std::byte* GpuBackend::allocate(int device, Bytes bytes) {
  const OnDevice on(*this, device);
  GpuFunctions::Address memory = 0;
  check("allocate memory", library_->functions.allocate(&memory, static_cast<std::size_t>(bytes)));
  return pointer(memory);
}

std::byte* GpuBackend::allocate_pinned(int device, Bytes bytes) {
  const OnDevice on(*this, device);
  void* memory = nullptr;
  check("allocate pinned host memory",
        library_->functions.allocate_host(&memory, static_cast<std::size_t>(bytes), host_memory_for_all_devices));
  return static_cast<std::byte*>(memory);
}

DeviceBackend::Stream GpuBackend::make_stream(int device) {
  const OnDevice on(*this, device);
  Stream stream = nullptr;
  check("make a stream", library_->functions.create_stream(&stream, stream_beside_the_default));
  return stream;
}

DeviceBackend::Event GpuBackend::make_event(int device) {
  const OnDevice on(*this, device);
  Event event = nullptr;
  check("make an event", library_->functions.create_event(&event, event_without_time));
  return event;
}

// What ends something may run while the process ends, when the library answers nothing any more.
void GpuBackend::deallocate(int device, std::byte* memory) noexcept {
  try {
    const OnDevice on(*this, device);
    library_->functions.deallocate(number(memory));
  } catch (const std::exception&) {  // NOLINT
  }
}

void GpuBackend::free_pinned(int device, std::byte* memory) noexcept {
  try {
    const OnDevice on(*this, device);
    library_->functions.free_host(memory);
  } catch (const std::exception&) {  // NOLINT
  }
}

void GpuBackend::free_stream(int device, Stream stream) noexcept {
  try {
    const OnDevice on(*this, device);
    library_->functions.synchronize_stream(stream);
    library_->functions.destroy_stream(stream);
  } catch (const std::exception&) {  // NOLINT
  }
}

void GpuBackend::free_event(int device, Event event) noexcept {
  try {
    const OnDevice on(*this, device);
    library_->functions.destroy_event(event);
  } catch (const std::exception&) {  // NOLINT
  }
}

void GpuBackend::copy(int device, std::span<const LocalCopy> copies, Stream stream) {
  const OnDevice on(*this, device);
  for (const auto& [from, to, bytes] : copies)
    if (bytes > 0) check("copy", library_->copy(to, from, bytes, stream));
}

/// For as long as the process runs.
void GpuBackend::load(int device, Kernel& kernel) {
  const OnDevice on(*this, device);
  kernel.image = library_->kernel_image();
  void* module = nullptr;
  check("load the kernel that copies pieces", library_->functions.load_module(&module, kernel.image.c_str()));
  check("find the kernel that copies pieces",
        library_->functions.get_kernel(&kernel.function, module, copy_pieces_name));
}

std::string GpuBackend::why_no_kernel(int device) {
  auto& kernel = kernels_.at(static_cast<std::size_t>(device));
  std::call_once(kernel.is_tried, [&] {
    try {
      load(device, kernel);
      kernel.trouble = fault_of_kernel(*this, device);
    } catch (const DeviceError& error) {
      kernel.trouble = error.what();
    }
  });
  return kernel.trouble;
}

void GpuBackend::copy_by_kernel(int device, std::span<const LocalCopy> copies, Stream stream) {
  constexpr unsigned threads = 128, pieces_of_block = threads / 32, most_blocks = 1024;
  const LocalCopy* pieces = copies.data();
  unsigned long long count = copies.size();
  std::array<void*, 2> arguments{&pieces, &count};
  const auto blocks = std::clamp<unsigned long long>((count + pieces_of_block - 1) / pieces_of_block, 1, most_blocks);
  const OnDevice on(*this, device);
  check(
      "start the kernel that copies pieces",
      library_->functions.launch(kernels_.at(static_cast<std::size_t>(device)).function, static_cast<unsigned>(blocks),
                                 1, 1, threads, 1, 1, 0, stream, arguments.data(), nullptr));
}

void GpuBackend::record(int device, Event event, Stream stream) {
  const OnDevice on(*this, device);
  check("record an event in a stream", library_->functions.record_event(event, stream));
}

void GpuBackend::wait_in_stream(int device, Stream stream, Event event) {
  const OnDevice on(*this, device);
  check("let a stream wait", library_->functions.stream_wait_event(stream, event, 0));
}

void GpuBackend::synchronize(int device, Stream stream) {
  const OnDevice on(*this, device);
  check("wait for a stream", library_->functions.synchronize_stream(stream));
}

DeviceHandle GpuBackend::share(int device, const void* address) {
  const OnDevice on(*this, device);
  GpuFunctions::Address begin = 0;
  std::size_t size = 0;
  check("find an allocation", library_->functions.address_range(&begin, &size, number(address)));
  DeviceHandle handle;
  check("share memory with another process", library_->functions.get_handle(&handle.opaque, begin));
  handle.offset = static_cast<Bytes>(number(address) - begin);
  return handle;
}

std::byte* GpuBackend::open(int device, const DeviceHandle& handle) {
  const OnDevice on(*this, device);
  GpuFunctions::Address begin = 0;
  check("open memory of another process",
        library_->functions.open_handle(&begin, handle.opaque, library_->with_peer_access));
  return pointer(begin);
}

void GpuBackend::close(int device, std::byte* begin) noexcept {
  try {
    const OnDevice on(*this, device);
    library_->functions.close_handle(number(begin));
  } catch (const std::exception&) {  // NOLINT
  }
}

}  // namespace commpass
