// The kernel that makes many small copies at once, and whether it does. Private to the runtime.
//
// Where blocks are many and small, one call of the driver for each of them takes longer than anything else.
#pragma once

#include <string>

#include "runtime/device/device_backend.hpp"

namespace commpass {

/// Made of copy_pieces.cl: PTX, and a source in HIP.
extern const char* const copy_pieces_ptx;
extern const char* const copy_pieces_hip;
inline constexpr const char* copy_pieces_name = "commpass_copy_pieces";

/// With fewer copies a kernel spares nothing: to start it takes as long as two or three of them.
inline constexpr std::size_t worth_a_kernel = 8;

/// Tries the kernel of a backend on some bytes at all alignments: to the device, there, and back to the host.
/// @return what is wrong with it, in a sentence; empty: nothing
/// @throws DeviceError
std::string fault_of_kernel(DeviceBackend& backend, int device);

}  // namespace commpass
