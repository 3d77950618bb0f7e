// CUDA's driver API (names and numbers of cuda.h).
#include <array>
#include <atomic>
#include <memory>

#include "runtime/device/gpu_library.hpp"
#include "runtime/device/piece_kernels.hpp"
#include "runtime/mpi/mpi_library.hpp"

namespace commpass {

namespace {

class CudaLibrary final : public GpuLibrary {
 public:
  explicit CudaLibrary(LoadedLibrary& library) {
#define COMMPASS_FIND(member, cuda, hip, ...) library.find(functions.member, #cuda);
    COMMPASS_GPU_FUNCTIONS(COMMPASS_FIND)
#undef COMMPASS_FIND
    library.find(copy_, "cuMemcpyAsync");
    library.find(error_string_, "cuGetErrorString");
    library.find(retain_context_, "cuDevicePrimaryCtxRetain");
    library.find(push_context_, "cuCtxPushCurrent_v2");
    library.find(pop_context_, "cuCtxPopCurrent_v2");
  }

  const char* name() const override { return cuda_name; }
  bool is_known_to_mpi() const override { return takes_cuda_memory().value_or(false); }
  bool is_on_device(int memory_type) const override {
    constexpr int device = 2;  // CU_MEMORYTYPE_DEVICE
    return memory_type == device;
  }
  std::string kernel_image() const override { return pieces_ptx; }
  const char* error_text(int code) const override {
    const char* text = nullptr;
    return error_string_(code, &text) == 0 && text ? text : "an error that it does not know";
  }
  int copy(std::byte* to, const std::byte* from, std::size_t bytes, void* stream) const override {
    return copy_(reinterpret_cast<Address>(to), reinterpret_cast<Address>(from), bytes, stream);
  }
  /// The context that CUDA's runtime uses, too.
  int enter(int device, void**) override {
    constexpr int invalid_device = 101;  // CUDA_ERROR_INVALID_DEVICE
    if (device < 0 || static_cast<std::size_t>(device) >= contexts_.size()) return invalid_device;
    auto& kept = contexts_[static_cast<std::size_t>(device)];
    void* context = kept.load();
    if (!context) {
      int handle = 0;
      if (const int code = functions.get_device(&handle, device)) return code;
      if (const int code = retain_context_(&context, handle)) return code;
      kept.store(context);
    }
    return push_context_(context);
  }
  void leave(void*) noexcept override {
    void* context = nullptr;
    pop_context_(&context);
  }

 private:
  using Address = GpuFunctions::Address;

  int (*copy_)(Address to, Address from, std::size_t bytes, void* stream) = nullptr;
  int (*error_string_)(int code, const char** text) = nullptr;
  int (*retain_context_)(void** context, int handle) = nullptr;
  int (*push_context_)(void* context) = nullptr;
  int (*pop_context_)(void** context) = nullptr;
  std::array<std::atomic<void*>, most_devices> contexts_{};
};

}  // namespace

DeviceBackend* cuda_backend(LoadedLibrary::Open open) {
  LoadedLibrary library("libcuda.so.1", open);
  if (!library) return nullptr;
  auto functions = std::make_unique<CudaLibrary>(library);
  int (*init)(unsigned flags) = nullptr;
  library.find(init, "cuInit");  // once more does nothing
  return library.has_all() && init(0) == 0 ? make_gpu_backend(std::move(functions)) : nullptr;
}

}  // namespace commpass
