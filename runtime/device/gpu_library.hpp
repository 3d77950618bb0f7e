// The driver libraries of GPUs, as far as this process has loaded them. Private to the runtime.
//
// Their functions are called by name, with declarations of our own: so all of it is compiled everywhere, no SDK is
// needed, and one Commpass runs on nodes with and without GPUs. The names and numbers are part of the libraries' binary
// interfaces: of CUDA the driver's (libcuda.so.1, on every node with a GPU, also where programs have CUDA's runtime
// linked statically), of HIP the runtime's (libamdhip64.so).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/device/device_backend.hpp"
#include "runtime/device/loaded_library.hpp"

namespace commpass {

/// What both have with the same arguments (CUDA's driver API, HIP's runtime API), and in which only calls differ. Every
/// function returns a code, 0 for success.
struct GpuFunctions {
  using Address = std::uintptr_t;  ///< CUdeviceptr; in HIP void*, which is passed alike
  using Handle = std::array<std::byte, 64>;

  int (*pointer_attribute)(void* value, int attribute, Address address) = nullptr;
  int (*address_range)(Address* begin, std::size_t* bytes, Address address) = nullptr;
  int (*allocate)(Address* memory, std::size_t bytes) = nullptr;
  int (*deallocate)(Address memory) = nullptr;
  int (*allocate_host)(void** memory, std::size_t bytes, unsigned flags) = nullptr;
  int (*free_host)(void* memory) = nullptr;
  int (*create_stream)(void** stream, unsigned flags) = nullptr;
  int (*destroy_stream)(void* stream) = nullptr;
  int (*synchronize_stream)(void* stream) = nullptr;
  int (*stream_wait_event)(void* stream, void* event, unsigned flags) = nullptr;
  int (*create_event)(void** event, unsigned flags) = nullptr;
  int (*record_event)(void* event, void* stream) = nullptr;
  int (*destroy_event)(void* event) = nullptr;
  int (*get_handle)(Handle* handle, Address memory) = nullptr;
  int (*open_handle)(Address* memory, Handle handle, unsigned flags) = nullptr;
  int (*close_handle)(Address memory) = nullptr;
  int (*count)(int* devices) = nullptr;
  int (*get_device)(int* handle, int number) = nullptr;
  int (*device_name)(char* name, int room, int handle) = nullptr;
  int (*device_place)(char* pci_bus_id, int room, int handle) = nullptr;
  int (*load_module)(void** module, const void* image) = nullptr;
  int (*get_kernel)(void** kernel, void* module, const char* name) = nullptr;
  int (*launch)(void* kernel, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads,
                unsigned threads_y, unsigned threads_z, unsigned shared_bytes, void* stream, void** arguments,
                void** extra) = nullptr;
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
  /// Is that the attribute memory type of a device?
  virtual bool is_on_device(int memory_type) const = 0;
  /// The kernel that makes many copies (piece_kernel.hpp) for the device of the calling thread, as load_module takes
  /// it.
  /// @throws DeviceError if there is none
  virtual std::string kernel_image() const = 0;
  virtual const char* error_text(int code) const = 0;
  /// Forgets what a call of ours has left behind that had to fail.
  virtual void forget_error() const {}
  virtual int copy(std::byte* to, const std::byte* from, std::size_t bytes, void* stream) const = 0;
  /// Makes a device that of the calling thread. @param before  what leave() needs
  virtual int enter(int device, void** before) = 0;
  virtual void leave(void* before) noexcept = 0;

 protected:
  GpuLibrary() = default;
};

inline constexpr const char *cuda_name = "CUDA", *hip_name = "HIP";

/// Null: the library is not there, or lacks a function.
DeviceBackend* cuda_backend(LoadedLibrary::Open open);
DeviceBackend* hip_backend(LoadedLibrary::Open open);

}  // namespace commpass
