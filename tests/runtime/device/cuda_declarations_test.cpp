// Our declarations of CUDA's driver against those of its header, where that is installed: compiled only.
#include <cuda.h>

#include "runtime/device/alike_functions.hpp"
#include "runtime/device/gpu_library.hpp"

namespace commpass {
namespace {

using test::are_functions_alike;

#define COMMPASS_FITS(member, function)                                                                         \
  static_assert(are_functions_alike<decltype(GpuFunctions::member)>(static_cast<decltype(&function)>(nullptr)), \
                #function " is declared in another way")

COMMPASS_FITS(pointer_attribute, cuPointerGetAttribute);
COMMPASS_FITS(address_range, cuMemGetAddressRange_v2);
COMMPASS_FITS(allocate, cuMemAlloc_v2);
COMMPASS_FITS(deallocate, cuMemFree_v2);
COMMPASS_FITS(allocate_host, cuMemHostAlloc);
COMMPASS_FITS(free_host, cuMemFreeHost);
COMMPASS_FITS(create_stream, cuStreamCreate);
COMMPASS_FITS(destroy_stream, cuStreamDestroy_v2);
COMMPASS_FITS(synchronize_stream, cuStreamSynchronize);
COMMPASS_FITS(stream_wait_event, cuStreamWaitEvent);
COMMPASS_FITS(create_event, cuEventCreate);
COMMPASS_FITS(record_event, cuEventRecord);
COMMPASS_FITS(destroy_event, cuEventDestroy_v2);
COMMPASS_FITS(get_handle, cuIpcGetMemHandle);
COMMPASS_FITS(open_handle, cuIpcOpenMemHandle_v2);
COMMPASS_FITS(close_handle, cuIpcCloseMemHandle);
COMMPASS_FITS(count, cuDeviceGetCount);
COMMPASS_FITS(get_device, cuDeviceGet);
COMMPASS_FITS(device_name, cuDeviceGetName);
COMMPASS_FITS(device_place, cuDeviceGetPCIBusId);
COMMPASS_FITS(load_module, cuModuleLoadData);
COMMPASS_FITS(get_kernel, cuModuleGetFunction);
COMMPASS_FITS(launch, cuLaunchKernel);

// Numbers in gpu_backend.cpp and cuda_library.cpp.
static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == 2 && CU_POINTER_ATTRIBUTE_IS_MANAGED == 8 &&
              CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL == 9);
static_assert(CU_MEMHOSTALLOC_PORTABLE == 1 && CU_STREAM_NON_BLOCKING == 1 && CU_EVENT_DISABLE_TIMING == 2 &&
              CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS == 1 && CU_MEMORYTYPE_DEVICE == 2 && CUDA_ERROR_INVALID_DEVICE == 101);
static_assert(sizeof(CUipcMemHandle) == sizeof(GpuFunctions::Handle));

}  // namespace
}  // namespace commpass
