// The driver libraries of GPUs, if this process has loaded them. Private to the runtime.
//
// Their functions are called by name, with declarations of our own: so everything is compiled everywhere, no SDK is
// needed, and one Commpass runs on nodes with and without GPUs. The names and numbers are part of the libraries' binary
// interfaces: CUDA's driver (libcuda.so.1, on every node with a GPU, also where programs link CUDA's runtime
// statically) and HIP's runtime (libamdhip64.so).
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/device/device_backend.hpp"

namespace commpass {

/// Functions of a shared library of the process.
class LoadedLibrary {
 public:
  enum class Open { if_loaded, load };

  /// @param file  as dlopen takes it
  LoadedLibrary(const char* file, Open open)
      : handle_(dlopen(file, open == Open::load ? RTLD_LAZY : RTLD_LAZY | RTLD_NOLOAD)) {}
  explicit operator bool() const { return handle_ != nullptr; }

  /// Sets a pointer to a function, or remembers that one is missing.
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    has_all_ = has_all_ && function;
  }
  bool has_all() const { return has_all_; }

 private:
  void* handle_;  ///< kept, so that its functions stay
  bool has_all_ = true;
};

// clang-format off
/// Functions with the same arguments in CUDA's driver API and HIP's runtime API: member, CUDA's name, HIP's name,
/// arguments. They return a code, 0 for success.
#define COMMPASS_GPU_FUNCTIONS(X) \
  X(pointer_attribute, cuPointerGetAttribute, hipPointerGetAttribute, void* value, int attribute, Address address) \
  X(address_range, cuMemGetAddressRange_v2, hipMemGetAddressRange, Address* begin, std::size_t* bytes, \
    Address address) \
  X(allocate, cuMemAlloc_v2, hipMalloc, Address* memory, std::size_t bytes) \
  X(deallocate, cuMemFree_v2, hipFree, Address memory) \
  X(allocate_host, cuMemHostAlloc, hipHostMalloc, void** memory, std::size_t bytes, unsigned flags) \
  X(free_host, cuMemFreeHost, hipHostFree, void* memory) \
  X(create_stream, cuStreamCreate, hipStreamCreateWithFlags, void** stream, unsigned flags) \
  X(destroy_stream, cuStreamDestroy_v2, hipStreamDestroy, void* stream) \
  X(synchronize_stream, cuStreamSynchronize, hipStreamSynchronize, void* stream) \
  X(stream_wait_event, cuStreamWaitEvent, hipStreamWaitEvent, void* stream, void* event, unsigned flags) \
  X(create_event, cuEventCreate, hipEventCreateWithFlags, void** event, unsigned flags) \
  X(record_event, cuEventRecord, hipEventRecord, void* event, void* stream) \
  X(destroy_event, cuEventDestroy_v2, hipEventDestroy, void* event) \
  X(get_handle, cuIpcGetMemHandle, hipIpcGetMemHandle, Handle* handle, Address memory) \
  X(open_handle, cuIpcOpenMemHandle_v2, hipIpcOpenMemHandle, Address* memory, Handle handle, unsigned flags) \
  X(close_handle, cuIpcCloseMemHandle, hipIpcCloseMemHandle, Address memory) \
  X(count, cuDeviceGetCount, hipGetDeviceCount, int* devices) \
  X(get_device, cuDeviceGet, hipDeviceGet, int* handle, int number) \
  X(device_name, cuDeviceGetName, hipDeviceGetName, char* name, int room, int handle) \
  X(device_place, cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, char* pci_bus_id, int room, int handle) \
  X(load_module, cuModuleLoadData, hipModuleLoadData, void** module, const void* image) \
  X(get_kernel, cuModuleGetFunction, hipModuleGetFunction, void** kernel, void* module, const char* name) \
  X(launch, cuLaunchKernel, hipModuleLaunchKernel, void* kernel, unsigned blocks, unsigned blocks_y, \
    unsigned blocks_z, unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared_bytes, \
    void* stream, void** arguments, void** extra)
// clang-format on

struct GpuFunctions {
  using Address = std::uintptr_t;  ///< CUdeviceptr; in HIP void*, which is passed alike
  using Handle = std::array<std::byte, 64>;
#define COMMPASS_MEMBER(member, cuda, hip, ...) int (*member)(__VA_ARGS__) = nullptr;
  COMMPASS_GPU_FUNCTIONS(COMMPASS_MEMBER)
#undef COMMPASS_MEMBER
};

inline constexpr int most_devices = 64;  ///< of a node

/// Where CUDA and HIP differ.
class GpuLibrary {
 public:
  GpuFunctions functions;
  unsigned with_peer_access = 1;  ///< of open_handle

  virtual ~GpuLibrary() = default;
  GpuLibrary(const GpuLibrary&) = delete;
  GpuLibrary& operator=(const GpuLibrary&) = delete;

  virtual const char* name() const = 0;
  virtual bool is_known_to_mpi() const = 0;
  /// Is it the memory type of a device?
  virtual bool is_on_device(int memory_type) const = 0;
  /// The kernels that copy and add many pieces (piece_kernels.hpp), for the device of the calling thread, as
  /// load_module takes it.
  /// @throws DeviceError if there are none
  virtual std::string kernel_image() const = 0;
  virtual const char* error_text(int code) const = 0;
  /// Clears the last error, after a call that was expected to fail.
  virtual void forget_error() const {}
  virtual int copy(std::byte* to, const std::byte* from, std::size_t bytes, void* stream) const = 0;
  /// Makes a device that of the calling thread. @param before  state for leave()
  virtual int enter(int device, void** before) = 0;
  virtual void leave(void* before) noexcept = 0;

 protected:
  GpuLibrary() = default;
};

DeviceBackend* make_gpu_backend(std::unique_ptr<GpuLibrary> library);

/// Names and arguments of hip/hiprtc.h, from ROCm 5.0 on. Those that return int return a code, 0 for success.
struct HipCompilerFunctions {
  int (*create)(void** program, const char* source, const char* name, int headers, const char** texts,
                const char** names) = nullptr;
  int (*compile)(void* program, int options, const char** texts) = nullptr;
  int (*code_size)(void* program, std::size_t* bytes) = nullptr;
  int (*code)(void* program, char* code) = nullptr;
  int (*destroy)(void** program) = nullptr;
  const char* (*error_text)(int code) = nullptr;
};

inline constexpr const char *cuda_name = "CUDA", *hip_name = "HIP";

/// Null: the library is not there, or lacks a function.
DeviceBackend* cuda_backend(LoadedLibrary::Open open);
DeviceBackend* hip_backend(LoadedLibrary::Open open);

}  // namespace commpass
