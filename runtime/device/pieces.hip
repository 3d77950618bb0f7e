// The names of pieces.cl, which follows, in HIP. hipRTC compiles
// both (hip_library.cpp), and so do the tests, on the host.
#define __kernel extern "C" __global__
#define __global
#define __nvvm_read_ptx_sreg_tid_x() threadIdx.x
#define __nvvm_read_ptx_sreg_ntid_x() blockDim.x
#define __nvvm_read_ptx_sreg_ctaid_x() blockIdx.x
#define __nvvm_read_ptx_sreg_nctaid_x() gridDim.x
// HIP's headers, which come before, may have them as types.
#define uchar unsigned char
#define ushort unsigned short
#define uint unsigned int
#define ulong unsigned long
typedef unsigned int commpass_uint4 __attribute__((vector_size(16)));
#define uint4 commpass_uint4
