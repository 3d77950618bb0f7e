// HIP's runtime API and compiler (names and numbers of hip/hip_runtime_api.h and hip/hiprtc.h, from ROCm 5.0 on).
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/device/gpu_library.hpp"
#include "runtime/device/piece_kernels.hpp"
#include "runtime/mpi/mpi_library.hpp"

namespace commpass {

namespace {

/// HIP's compiler at run time, hipRTC: a library of its own; up to ROCm 5.2 part of the runtime.
std::optional<HipCompilerFunctions> find_compiler() {
  for (const char* file :
       {"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so", "libamdhip64.so.5"}) {
    LoadedLibrary library(file, LoadedLibrary::Open::load);
    if (!library) continue;
    HipCompilerFunctions functions;
    library.find(functions.create, "hiprtcCreateProgram");
    library.find(functions.compile, "hiprtcCompileProgram");
    library.find(functions.code_size, "hiprtcGetCodeSize");
    library.find(functions.code, "hiprtcGetCode");
    library.find(functions.destroy, "hiprtcDestroyProgram");
    library.find(functions.error_text, "hiprtcGetErrorString");
    if (library.has_all()) return functions;
  }
  return {};
}

/// A source that hipRTC compiles.
class Program {
 public:
  Program(const HipCompilerFunctions& functions, const char* source) : functions_(functions) {
    check("take", functions_.create(&handle_, source, "commpass", 0, nullptr, nullptr));
  }
  ~Program() { functions_.destroy(&handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string compile() {
    check("compile", functions_.compile(handle_, 0, nullptr));
    std::size_t bytes = 0;
    check("hand out", functions_.code_size(handle_, &bytes));
    std::string code(bytes, '\0');
    check("hand out", functions_.code(handle_, code.data()));
    return code;
  }

 private:
  void check(const char* what, int code) const {
    if (code != 0)
      throw DeviceError(fmt::format("HIP: its compiler hipRTC could not {} the kernels for pieces: {} (code {}).", what,
                                    functions_.error_text(code), code));
  }

  const HipCompilerFunctions& functions_;
  void* handle_ = nullptr;
};

/// Compiles a source for the device of the calling thread, as hipModuleLoadData takes it. Takes up to seconds.
/// @throws DeviceError where there is no such compiler, or it fails
std::string compile_for_hip(const char* source) {
  static const auto functions = find_compiler();
  if (!functions) throw DeviceError("HIP: there is no libhiprtc.so, which would compile the kernels for pieces.");
  return Program(*functions, source).compile();
}

class HipLibrary final : public GpuLibrary {
 public:
  explicit HipLibrary(LoadedLibrary& library) {
#define COMMPASS_FIND(member, cuda, hip, ...) library.find(functions.member, #hip);
    COMMPASS_GPU_FUNCTIONS(COMMPASS_FIND)
#undef COMMPASS_FIND
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
  std::string kernel_image() const override { return compile_for_hip(pieces_hip); }
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
    if (library.has_all()) return make_gpu_backend(std::move(functions));
  }
  return nullptr;
}

}  // namespace commpass
