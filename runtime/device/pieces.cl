// The kernels that copy and add many small pieces at once: they gather pieces for a message or for host memory, or
// scatter them. OpenCL C, which clang compiles to PTX (pieces_ptx.cpp); after pieces.hip, it is a source in HIP
// (pieces_hip.cpp): scripts/piece-kernels writes both.

// As LocalCopy (runtime/execute/memory.hpp). Addresses are of memory that the device reaches.
struct Piece {
  ulong from, to, bytes;
};

// Piece after piece, each for the lanes of a warp, or of half of one with 64 lanes.
#define FOR_PIECES_OF_WARP                                                                                     \
  const ulong lanes = 32;                                                                                      \
  const ulong lane = (uint)__nvvm_read_ptx_sreg_tid_x() % lanes;                                               \
  const ulong warps_of_block = (uint)__nvvm_read_ptx_sreg_ntid_x() / lanes;                                    \
  const ulong warps = warps_of_block * (uint)__nvvm_read_ptx_sreg_nctaid_x();                                  \
  const ulong warp =                                                                                           \
      warps_of_block * (uint)__nvvm_read_ptx_sreg_ctaid_x() + (uint)__nvvm_read_ptx_sreg_tid_x() / lanes;      \
  for (ulong i = warp; i < count; i += warps)

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

// By the widest accesses that the alignment of both ends allows.
__kernel void commpass_copy_pieces(__global const struct Piece* pieces, ulong count) {
  FOR_PIECES_OF_WARP {
    ulong from = pieces[i].from, to = pieces[i].to, bytes = pieces[i].bytes;
    const ulong misaligned = from | to;
    if (misaligned % sizeof(uint4) == 0) COPY_ELEMENTS(uint4)
    if (misaligned % sizeof(ulong) == 0) COPY_ELEMENTS(ulong)
    if (misaligned % sizeof(uint) == 0) COPY_ELEMENTS(uint)
    COPY_ELEMENTS(uchar)
  }
}

#define ADD_NUMBERS(Type)                                                                                  \
  for (ulong k = lane; k < bytes / sizeof(Type); k += lanes)                                               \
    ((__global Type*)to)[k] += ((__global const Type*)from)[k];                                            \
  break;

// Adds aligned numbers to others. The targets of pieces do not overlap.
// type: as NumberType (runtime/addition.hpp)
__kernel void commpass_add_pieces(__global const struct Piece* pieces, ulong count, ulong type) {
  FOR_PIECES_OF_WARP {
    const ulong from = pieces[i].from, to = pieces[i].to, bytes = pieces[i].bytes;
    switch (type) {
      case 1: ADD_NUMBERS(uchar)
      case 2: ADD_NUMBERS(ushort)
      case 3: ADD_NUMBERS(uint)
      case 4: ADD_NUMBERS(ulong)
      case 5: ADD_NUMBERS(float)
      case 6: ADD_NUMBERS(double)
    }
  }
}
