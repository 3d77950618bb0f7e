// A stand-in for HIP's runtime library without a GPU (fake_gpu.hpp), in which another device is that of the calling
// thread. The kernel is the source that hipRTC gets (fake_hiprtc.cpp).
#include <cstring>

#include "fake_gpu.hpp"

#define __global__  // NOLINT
#include "runtime/device/pieces.hip"
// Behind it.
#include "runtime/device/pieces.cl"

namespace {

constexpr int success = 0, invalid_value = 1, invalid_image = 200, invalid_device = 101, not_found = 500;
int valid(bool is_valid) { return is_valid ? success : invalid_value; }

constexpr int ours = 0, others = 1;
int current = others;
int on_ours(int code) { return current == ours ? code : invalid_device; }

const char* image = nullptr;

}  // namespace

// HIP's own names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int hipRuntimeGetVersion(int* version) {
  *version = 60000000;
  return success;
}
const char* hipGetErrorString(int) { return "some error"; }
int hipGetLastError() { return success; }
int hipGetDevice(int* device) {
  *device = current;
  return success;
}
int hipSetDevice(int device) {
  current = device;
  return success;
}
int hipGetDeviceCount(int* count) {
  *count = 1;
  return success;
}
int hipDeviceGet(int* handle, int number) {
  *handle = number + 7;  // no caller may take one for the other
  return valid(number == ours);
}
int hipDeviceGetName(char* name, int room, int handle) {
  std::strncpy(name, "no GPU", static_cast<std::size_t>(room));
  return valid(handle == 7);
}
int hipDeviceGetPCIBusId(char* place, int room, int handle) {
  std::strncpy(place, "0000:01:00.0", static_cast<std::size_t>(room));
  return valid(handle == 7);
}
// Addresses as numbers, as we call them: libraries take both alike.
int hipPointerGetAttribute(void* value, int attribute, std::uintptr_t address) {
  constexpr int on_host = 1, on_device = 2;
  return valid(find_attribute(value, attribute, address, on_host, on_device));
}
int hipMemGetAddressRange(std::uintptr_t* begin, std::size_t* bytes, std::uintptr_t address) {
  return valid(find_range(begin, bytes, address));
}
int hipMalloc(std::uintptr_t* memory, std::size_t bytes) {
  *memory = allocate(bytes, true);
  return on_ours(success);
}
int hipFree(std::uintptr_t memory) { return on_ours(valid(free_memory(memory))); }
int hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
  *memory = reinterpret_cast<void*>(allocate(bytes, false));  // NOLINT
  return on_ours(success);
}
int hipHostFree(void* memory) { return hipFree(reinterpret_cast<std::uintptr_t>(memory)); }
int hipStreamCreateWithFlags(void** stream, unsigned) {
  *stream = std::malloc(1);
  return on_ours(success);
}
int hipStreamDestroy(void* stream) {
  std::free(stream);
  return on_ours(success);
}
int hipStreamSynchronize(void*) { return on_ours(success); }
int hipStreamWaitEvent(void*, void*, unsigned) { return on_ours(success); }
int hipEventCreateWithFlags(void** event, unsigned) { return hipStreamCreateWithFlags(event, 0); }
int hipEventRecord(void*, void*) { return on_ours(success); }
int hipEventDestroy(void* event) { return hipStreamDestroy(event); }
struct FakeHandle {
  char bytes[64];
};
int hipIpcGetMemHandle(FakeHandle*, void*) { return not_found; }
int hipIpcOpenMemHandle(void**, FakeHandle, unsigned) { return not_found; }
int hipIpcCloseMemHandle(void*) { return not_found; }
int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void*) {
  std::memcpy(to, from, bytes);
  constexpr int by_addresses = 4;
  return on_ours(valid(kind == by_addresses));
}
int hipModuleLoadData(void** module, const void* data) {
  image = static_cast<const char*>(data);
  *module = &image;
  return on_ours(std::strncmp(image, "code of ", 8) == 0 ? success : invalid_image);
}
int hipModuleGetFunction(void** kernel, void* module, const char* name) {
  *kernel = find_kernel(name);
  return on_ours(module == &image && std::strstr(image, name) ? success : not_found);
}
int hipModuleLaunchKernel(void* kernel, unsigned x, unsigned, unsigned, unsigned threads_x, unsigned, unsigned,
                          unsigned, void*, void** arguments, void**) {
  const auto* const pieces = *static_cast<const Piece**>(arguments[0]);
  const auto count = *static_cast<const unsigned long*>(arguments[1]);
  const auto type = kernel == &adding_kernel ? *static_cast<const unsigned long*>(arguments[2]) : 0;
  run(
      [&] {
        kernel == &adding_kernel ? commpass_add_pieces(pieces, count, type) : commpass_copy_pieces(pieces, count);
      },
      x, threads_x);
  return on_ours(valid(is_kernel(kernel)));
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
