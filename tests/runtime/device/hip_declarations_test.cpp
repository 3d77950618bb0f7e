// Our declarations of HIP against those of its header, where that is installed: compiled only.
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <cstddef>

#include "runtime/device/alike_functions.hpp"
#include "runtime/device/gpu_library.hpp"

namespace commpass {
namespace {

using test::are_functions_alike;

// Some have overloads in C++, so arguments say which.
#define COMMPASS_FITS(member, function, ...)                                                                    \
  static_assert(                                                                                                \
      are_functions_alike<decltype(GpuFunctions::member)>(static_cast<hipError_t (*)(__VA_ARGS__)>(&function)), \
      #function " is declared in another way")

COMMPASS_FITS(pointer_attribute, hipPointerGetAttribute, void*, hipPointer_attribute, hipDeviceptr_t);
COMMPASS_FITS(address_range, hipMemGetAddressRange, hipDeviceptr_t*, std::size_t*, hipDeviceptr_t);
COMMPASS_FITS(allocate, hipMalloc, void**, std::size_t);
COMMPASS_FITS(deallocate, hipFree, void*);
COMMPASS_FITS(allocate_host, hipHostMalloc, void**, std::size_t, unsigned);
COMMPASS_FITS(free_host, hipHostFree, void*);
COMMPASS_FITS(create_stream, hipStreamCreateWithFlags, hipStream_t*, unsigned);
COMMPASS_FITS(destroy_stream, hipStreamDestroy, hipStream_t);
COMMPASS_FITS(synchronize_stream, hipStreamSynchronize, hipStream_t);
COMMPASS_FITS(stream_wait_event, hipStreamWaitEvent, hipStream_t, hipEvent_t, unsigned);
COMMPASS_FITS(create_event, hipEventCreateWithFlags, hipEvent_t*, unsigned);
COMMPASS_FITS(record_event, hipEventRecord, hipEvent_t, hipStream_t);
COMMPASS_FITS(destroy_event, hipEventDestroy, hipEvent_t);
COMMPASS_FITS(get_handle, hipIpcGetMemHandle, hipIpcMemHandle_t*, void*);
COMMPASS_FITS(open_handle, hipIpcOpenMemHandle, void**, hipIpcMemHandle_t, unsigned);
COMMPASS_FITS(close_handle, hipIpcCloseMemHandle, void*);
COMMPASS_FITS(count, hipGetDeviceCount, int*);
COMMPASS_FITS(get_device, hipDeviceGet, hipDevice_t*, int);
COMMPASS_FITS(device_name, hipDeviceGetName, char*, int, hipDevice_t);
COMMPASS_FITS(device_place, hipDeviceGetPCIBusId, char*, int, int);
COMMPASS_FITS(load_module, hipModuleLoadData, hipModule_t*, const void*);
COMMPASS_FITS(get_kernel, hipModuleGetFunction, hipFunction_t*, hipModule_t, const char*);
COMMPASS_FITS(launch, hipModuleLaunchKernel, hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
              unsigned, hipStream_t, void**, void**);

#define COMMPASS_COMPILER_FITS(member, function)                                        \
  static_assert(are_functions_alike<decltype(HipCompilerFunctions::member)>(&function), \
                #function " is declared in another way")

COMMPASS_COMPILER_FITS(create, hiprtcCreateProgram);
COMMPASS_COMPILER_FITS(compile, hiprtcCompileProgram);
COMMPASS_COMPILER_FITS(code_size, hiprtcGetCodeSize);
COMMPASS_COMPILER_FITS(code, hiprtcGetCode);
COMMPASS_COMPILER_FITS(destroy, hiprtcDestroyProgram);
COMMPASS_COMPILER_FITS(error_text, hiprtcGetErrorString);

// Numbers in gpu_backend.cpp and hip_library.cpp.
static_assert(HIP_POINTER_ATTRIBUTE_MEMORY_TYPE == 2 && HIP_POINTER_ATTRIBUTE_IS_MANAGED == 8 &&
              HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL == 9);
static_assert(hipHostMallocPortable == 1 && hipStreamNonBlocking == 1 && hipEventDisableTiming == 2 &&
              hipMemcpyDefault == 4);
static_assert(hipMemoryTypeDevice == (HIP_VERSION_MAJOR < 6 ? 1 : 2) &&
              hipIpcMemLazyEnablePeerAccess == (HIP_VERSION_MAJOR < 6 ? 0 : 1));
static_assert(sizeof(hipIpcMemHandle_t) == sizeof(GpuFunctions::Handle));

}  // namespace
}  // namespace commpass
