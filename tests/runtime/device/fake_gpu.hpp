// Common code of stand-ins for GPU libraries, a copy in each: device memory is host memory, all calls are synchronous,
// and a kernel runs thread by thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include <sys/types.h>

namespace {

struct Memory {
  std::size_t bytes = 0;
  bool is_on_device = false;
};
std::map<std::uintptr_t, Memory>& memories() {
  static std::map<std::uintptr_t, Memory> all;
  return all;
}
auto find(std::uintptr_t address) {
  auto next = memories().upper_bound(address);
  if (next == memories().begin()) return memories().end();
  --next;
  return address < next->first + next->second.bytes ? next : memories().end();
}
std::uintptr_t allocate(std::size_t bytes, bool is_on_device) {
  const auto address = reinterpret_cast<std::uintptr_t>(std::malloc(bytes));  // NOLINT
  memories()[address] = {bytes, is_on_device};
  return address;
}
bool free_memory(std::uintptr_t address) {
  if (memories().erase(address) == 0) return false;
  std::free(reinterpret_cast<void*>(address));  // NOLINT
  return true;
}
bool find_range(std::uintptr_t* begin, std::size_t* bytes, std::uintptr_t address) {
  const auto found = find(address);
  if (found == memories().end()) return false;
  *begin = found->first;
  *bytes = found->second.bytes;
  return true;
}
/// The attribute memory type is as given, all others are 0.
bool find_attribute(void* value, int attribute, std::uintptr_t address, int on_host, int on_device) {
  const auto found = find(address);
  if (found == memories().end()) return false;
  constexpr int memory_type = 2;
  *static_cast<int*>(value) = attribute != memory_type ? 0 : found->second.is_on_device ? on_device : on_host;
  return true;
}

// Indices of a thread of a kernel.
struct Along {
  unsigned x = 0;
} threadIdx, blockDim, blockIdx, gridDim;  // NOLINT: HIP's names

}  // namespace

// For the tests.
extern "C" {
bool fake_gpu_spoils_kernels = false;
int fake_gpu_launches = 0;
}

namespace {

// Handles of our kernels.
int copying_kernel = 0, adding_kernel = 0;
void* find_kernel(const char* name) { return std::strstr(name, "add") ? &adding_kernel : &copying_kernel; }
bool is_kernel(const void* kernel) { return kernel == &copying_kernel || kernel == &adding_kernel; }

template <class Kernel>
void run(Kernel kernel, unsigned blocks, unsigned threads) {
  ++fake_gpu_launches;
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = fake_gpu_spoils_kernels ? 1 : 0; threadIdx.x < threads; ++threadIdx.x) kernel();
}

}  // namespace
