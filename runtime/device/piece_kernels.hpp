// The kernels that copy and add many small pieces at once, and their self-test. Private to the runtime.
//
// Without them, many small blocks take a call of the driver each, which dominates their exchange.
#pragma once

#include <string>

#include "runtime/device/device_backend.hpp"

namespace commpass {

/// Made of pieces.cl: PTX, and a source in HIP.
extern const char* const pieces_ptx;
extern const char* const pieces_hip;
inline constexpr const char *copy_pieces_name = "commpass_copy_pieces", *add_pieces_name = "commpass_add_pieces";

/// With fewer copies a kernel saves nothing: its start takes as long as two or three of them.
inline constexpr std::size_t worth_a_kernel = 8;

/// Tries the kernels of a backend: copies of pieces of all alignments to the device, within it, and back to the host;
/// and additions of numbers of each type.
/// @return their fault, in a sentence; empty: none
/// @throws DeviceError
std::string fault_of_kernels(DeviceBackend& backend, int device);

}  // namespace commpass
