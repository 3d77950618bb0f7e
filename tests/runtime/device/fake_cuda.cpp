// A stand-in for CUDA's driver library without a GPU (fake_gpu.hpp). The kernel is the source that clang makes PTX of.
#include <array>
#include <cstring>

#include "fake_gpu.hpp"

namespace {

constexpr int success = 0, invalid_value = 1, no_context = 201, not_found = 500;
int valid(bool is_valid) { return is_valid ? success : invalid_value; }

int contexts = 0;  // that were pushed and not popped
int in_context(int code) { return contexts > 0 ? code : no_context; }

// Names of the source; ulong and uint exist.
using uchar = unsigned char;
struct uint4 {
  std::array<unsigned, 4> all;
};
unsigned __nvvm_read_ptx_sreg_tid_x() { return threadIdx.x; }   // NOLINT
unsigned __nvvm_read_ptx_sreg_ntid_x() { return blockDim.x; }   // NOLINT
unsigned __nvvm_read_ptx_sreg_ctaid_x() { return blockIdx.x; }  // NOLINT
unsigned __nvvm_read_ptx_sreg_nctaid_x() { return gridDim.x; }  // NOLINT
#define __kernel static                                         // NOLINT
#define __global                                                // NOLINT
#include "runtime/device/pieces.cl"
#undef __kernel
#undef __global

const char* image = nullptr;

}  // namespace

// CUDA's own names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int cuInit(unsigned) { return success; }
int cuGetErrorString(int, const char** text) {
  *text = "some error";
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return success;
}
int cuDeviceGet(int* handle, int number) {
  *handle = number + 7;  // no caller may take one for the other
  return number == 0 ? success : invalid_value;
}
int cuDeviceGetName(char* name, int room, int handle) {
  std::strncpy(name, "no GPU", static_cast<std::size_t>(room));
  return handle == 7 ? success : invalid_value;
}
int cuDeviceGetPCIBusId(char* place, int room, int handle) {
  std::strncpy(place, "0000:01:00.0", static_cast<std::size_t>(room));
  return handle == 7 ? success : invalid_value;
}
int cuDevicePrimaryCtxRetain(void** context, int handle) {
  *context = &contexts;
  return handle == 7 ? success : invalid_value;
}
int cuCtxPushCurrent_v2(void*) {
  ++contexts;
  return success;
}
int cuCtxPopCurrent_v2(void**) {
  --contexts;
  return success;
}
int cuPointerGetAttribute(void* value, int attribute, std::uintptr_t address) {
  constexpr int on_host = 1, on_device = 2;
  return valid(find_attribute(value, attribute, address, on_host, on_device));
}
int cuMemGetAddressRange_v2(std::uintptr_t* begin, std::size_t* bytes, std::uintptr_t address) {
  return valid(find_range(begin, bytes, address));
}
int cuMemAlloc_v2(std::uintptr_t* memory, std::size_t bytes) {
  *memory = allocate(bytes, true);
  return in_context(success);
}
int cuMemFree_v2(std::uintptr_t memory) { return in_context(valid(free_memory(memory))); }
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = reinterpret_cast<void*>(allocate(bytes, false));  // NOLINT
  return in_context(success);
}
int cuMemFreeHost(void* memory) { return in_context(valid(free_memory(reinterpret_cast<std::uintptr_t>(memory)))); }
int cuStreamCreate(void** stream, unsigned) {
  *stream = std::malloc(1);
  return in_context(success);
}
int cuStreamDestroy_v2(void* stream) {
  std::free(stream);
  return in_context(success);
}
int cuStreamSynchronize(void*) { return in_context(success); }
int cuStreamWaitEvent(void*, void*, unsigned) { return in_context(success); }
int cuEventCreate(void** event, unsigned) { return cuStreamCreate(event, 0); }
int cuEventRecord(void*, void*) { return in_context(success); }
int cuEventDestroy_v2(void* event) { return cuStreamDestroy_v2(event); }
struct FakeHandle {
  std::array<std::byte, 64> bytes;
};
int cuIpcGetMemHandle(FakeHandle*, std::uintptr_t) { return not_found; }
int cuIpcOpenMemHandle_v2(std::uintptr_t*, FakeHandle, unsigned) { return not_found; }
int cuIpcCloseMemHandle(std::uintptr_t) { return not_found; }
int cuMemcpyAsync(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);  // NOLINT
  return in_context(success);
}
int cuModuleLoadData(void** module, const void* data) {
  image = static_cast<const char*>(data);
  *module = &image;
  return in_context(std::strstr(image, ".version") ? success : invalid_value);
}
int cuModuleGetFunction(void** kernel, void* module, const char* name) {
  *kernel = find_kernel(name);
  return in_context(module == &image && std::strstr(image, name) ? success : not_found);
}
int cuLaunchKernel(void* kernel, unsigned x, unsigned, unsigned, unsigned threads_x, unsigned, unsigned, unsigned,
                   void*, void** arguments, void**) {
  const auto* const pieces = *static_cast<const Piece**>(arguments[0]);
  const auto count = *static_cast<const ulong*>(arguments[1]);
  const auto type = kernel == &adding_kernel ? *static_cast<const ulong*>(arguments[2]) : 0;
  run(
      [&] {
        kernel == &adding_kernel ? commpass_add_pieces(pieces, count, type) : commpass_copy_pieces(pieces, count);
      },
      x, threads_x);
  return in_context(is_kernel(kernel) ? success : invalid_value);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
