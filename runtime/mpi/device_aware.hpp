// Whether the MPI library takes addresses of device memory.
#pragma once

#include <optional>

namespace commpass {

/// Asks the extensions of Open MPI and MPICH, where the library that runs has them; nothing is tried out.
/// @return nothing: it cannot be asked
std::optional<bool> takes_cuda_memory();
std::optional<bool> takes_hip_memory();

}  // namespace commpass
