// Our declarations of CUDA's driver against those of its header, where that is installed: compiled only.
#include <cuda.h>

#include "runtime/device/alike_functions.hpp"
#include "runtime/device/gpu_library.hpp"

namespace commpass {
namespace {

using test::are_functions_alike;

#define COMMPASS_FITS(member, cuda, hip, ...)                                                               \
  static_assert(are_functions_alike<decltype(GpuFunctions::member)>(static_cast<decltype(&cuda)>(nullptr)), \
                #cuda " has another declaration");
COMMPASS_GPU_FUNCTIONS(COMMPASS_FITS)

// Numbers in gpu_backend.cpp and cuda_library.cpp.
static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == 2 && CU_POINTER_ATTRIBUTE_IS_MANAGED == 8 &&
              CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL == 9);
static_assert(CU_MEMHOSTALLOC_PORTABLE == 1 && CU_STREAM_NON_BLOCKING == 1 && CU_EVENT_DISABLE_TIMING == 2 &&
              CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS == 1 && CU_MEMORYTYPE_DEVICE == 2 && CUDA_ERROR_INVALID_DEVICE == 101);
static_assert(sizeof(CUipcMemHandle) == sizeof(GpuFunctions::Handle));

}  // namespace
}  // namespace commpass
