// HIP's runtime API (names and numbers of hip/hip_runtime_api.h, from ROCm 5.0 on), as the process has loaded it.
#include <cstdint>
#include <memory>

#include "runtime/device/gpu_backend.hpp"
#include "runtime/device/hip_compiler.hpp"
#include "runtime/device/piece_kernel.hpp"
#include "runtime/mpi/device_aware.hpp"

namespace commpass {

namespace {

class HipLibrary final : public GpuLibrary {
 public:
  explicit HipLibrary(LoadedLibrary& library) {
    library.find(functions.pointer_attribute, "hipPointerGetAttribute");
    library.find(functions.address_range, "hipMemGetAddressRange");
    library.find(functions.allocate, "hipMalloc");
    library.find(functions.deallocate, "hipFree");
    library.find(functions.allocate_host, "hipHostMalloc");
    library.find(functions.free_host, "hipHostFree");
    library.find(functions.create_stream, "hipStreamCreateWithFlags");
    library.find(functions.destroy_stream, "hipStreamDestroy");
    library.find(functions.synchronize_stream, "hipStreamSynchronize");
    library.find(functions.stream_wait_event, "hipStreamWaitEvent");
    library.find(functions.create_event, "hipEventCreateWithFlags");
    library.find(functions.record_event, "hipEventRecord");
    library.find(functions.destroy_event, "hipEventDestroy");
    library.find(functions.get_handle, "hipIpcGetMemHandle");
    library.find(functions.open_handle, "hipIpcOpenMemHandle");
    library.find(functions.close_handle, "hipIpcCloseMemHandle");
    library.find(functions.count, "hipGetDeviceCount");
    library.find(functions.get_device, "hipDeviceGet");
    library.find(functions.device_name, "hipDeviceGetName");
    library.find(functions.device_place, "hipDeviceGetPCIBusId");
    library.find(functions.load_module, "hipModuleLoadData");
    library.find(functions.get_kernel, "hipModuleGetFunction");
    library.find(functions.launch, "hipModuleLaunchKernel");
    library.find(copy_, "hipMemcpyAsync");
    library.find(error_string_, "hipGetErrorString");
    library.find(last_error_, "hipGetLastError");
    library.find(get_device_, "hipGetDevice");
    library.find(set_device_, "hipSetDevice");
    int (*version)(int*) = nullptr;
    library.find(version, "hipRuntimeGetVersion");
    int number = 0;
    constexpr int rocm_6 = 60000000;
    const bool is_new = version && version(&number) == 0 && number >= rocm_6;
    on_device_ = is_new ? 2 : 1;
    with_peer_access = is_new ? 1 : 0;
  }

  const char* name() const override { return hip_name; }
  bool is_known_to_mpi() const override { return takes_hip_memory().value_or(false); }
  bool is_on_device(int memory_type) const override { return memory_type == on_device_; }
  std::string kernel_image() const override { return compile_for_hip(copy_pieces_hip); }
  const char* error_text(int code) const override { return error_string_(code); }
  void forget_error() const override { last_error_(); }
  int copy(std::byte* to, const std::byte* from, std::size_t bytes, void* stream) const override {
    constexpr int by_addresses = 4;  // hipMemcpyDefault
    return copy_(to, from, bytes, by_addresses, stream);
  }
  int enter(int device, void** before) override {
    int current = 0;
    if (const int code = get_device_(&current)) return code;
    *before = reinterpret_cast<void*>(static_cast<std::intptr_t>(current));  // NOLINT: a number
    return current == device ? 0 : set_device_(device);
  }
  void leave(void* before) noexcept override { set_device_(static_cast<int>(reinterpret_cast<std::intptr_t>(before))); }

 private:
  int (*copy_)(void* to, const void* from, std::size_t bytes, int kind, void* stream) = nullptr;
  const char* (*error_string_)(int code) = nullptr;
  int (*last_error_)() = nullptr;
  int (*get_device_)(int* device) = nullptr;
  int (*set_device_)(int device) = nullptr;
  int on_device_ = 2;  ///< hipMemoryTypeDevice, which was 1 before ROCm 6
};

}  // namespace

DeviceBackend* hip_backend(LoadedLibrary::Open open) {
  for (const char* file : {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    LoadedLibrary library(file, open);
    if (!library) continue;
    auto functions = std::make_unique<HipLibrary>(library);
    if (library.has_all()) return new GpuBackend(std::move(functions));  // NOLINT: until the process ends
  }
  return nullptr;
}

}  // namespace commpass
