// The kernel that makes many small copies at once, and its self-test. Private to the runtime.
//
// Without it, many small blocks take a call of the driver each, which dominates their exchange.
#pragma once

#include <string>

#include "runtime/device/device_backend.hpp"

namespace commpass {

/// Made of copy_pieces.cl: PTX, and a source in HIP.
extern const char* const copy_pieces_ptx;
extern const char* const copy_pieces_hip;
inline constexpr const char* copy_pieces_name = "commpass_copy_pieces";

/// With fewer copies a kernel saves nothing: its start takes as long as two or three of them.
inline constexpr std::size_t worth_a_kernel = 8;

/// Tries the kernel of a backend on pieces of all alignments: to the device, within it, and back to the host.
/// @return its fault, in a sentence; empty: none
/// @throws DeviceError
std::string fault_of_kernel(DeviceBackend& backend, int device);

}  // namespace commpass
