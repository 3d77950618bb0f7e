// The kernel of copy_pieces.cl as a source in HIP. Made by scripts/copy-kernel: do not change it here.
#include "runtime/device/piece_kernel.hpp"

namespace commpass {

const char* const copy_pieces_hip = R"HIP(// The names of copy_pieces.cl, which follows, in HIP. hipRTC compiles
// both (hip_library.cpp), and so do the tests, on the host.
#define __kernel extern "C" __global__
#define __global
#define __nvvm_read_ptx_sreg_tid_x() threadIdx.x
#define __nvvm_read_ptx_sreg_ntid_x() blockDim.x
#define __nvvm_read_ptx_sreg_ctaid_x() blockIdx.x
#define __nvvm_read_ptx_sreg_nctaid_x() gridDim.x
// HIP's headers, which come before, may have them as types.
#define uchar unsigned char
#define uint unsigned int
#define ulong unsigned long
typedef unsigned int commpass_uint4 __attribute__((vector_size(16)));
#define uint4 commpass_uint4
// The kernel that copies many small pieces at once: it gathers pieces for a message or for host memory, or scatters them.
// OpenCL C, which clang compiles to PTX (copy_pieces_ptx.cpp); after copy_pieces.hip, it is a source in HIP
// (copy_pieces_hip.cpp): scripts/copy-kernel writes both.

// As LocalCopy (runtime/execute/memory.hpp). Addresses are of memory that the device reaches.
struct Piece {
  ulong from, to, bytes;
};

// Copies the first `bytes / sizeof(Type)` elements, by the lanes of a warp in turn, and advances to the rest.
#define COPY_ELEMENTS(Type)                                                               \
  {                                                                                       \
    const ulong elements = bytes / sizeof(Type);                                          \
    for (ulong k = lane; k < elements; k += lanes)                                        \
      ((__global Type*)to)[k] = ((__global const Type*)from)[k];                          \
    from += elements * sizeof(Type);                                                      \
    to += elements * sizeof(Type);                                                        \
    bytes -= elements * sizeof(Type);                                                     \
  }

// A warp, or half of one with 64 lanes, copies a piece by the widest accesses that the alignment of both ends allows.
__kernel void commpass_copy_pieces(__global const struct Piece* pieces, ulong count) {
  const ulong lanes = 32;
  const ulong lane = (uint)__nvvm_read_ptx_sreg_tid_x() % lanes;
  const ulong warps_of_block = (uint)__nvvm_read_ptx_sreg_ntid_x() / lanes;
  const ulong warps = warps_of_block * (uint)__nvvm_read_ptx_sreg_nctaid_x();
  const ulong warp =
      warps_of_block * (uint)__nvvm_read_ptx_sreg_ctaid_x() + (uint)__nvvm_read_ptx_sreg_tid_x() / lanes;
  for (ulong i = warp; i < count; i += warps) {
    ulong from = pieces[i].from, to = pieces[i].to, bytes = pieces[i].bytes;
    const ulong misaligned = from | to;
    if (misaligned % sizeof(uint4) == 0) COPY_ELEMENTS(uint4)
    if (misaligned % sizeof(ulong) == 0) COPY_ELEMENTS(ulong)
    if (misaligned % sizeof(uint) == 0) COPY_ELEMENTS(uint)
    COPY_ELEMENTS(uchar)
  }
}
)HIP";

}  // namespace commpass
