// What the MPI library that runs says of itself.
#pragma once

#include <optional>
#include <string>

namespace commpass {

/// The text of MPI_Get_library_version. @throws MpiError
std::string mpi_library_text();

/// Name and version, "Open MPI v4.1.4": that text up to the first comma or the end of the line. @throws MpiError
std::string mpi_library();

/// Does it take addresses of device memory? Asks the extensions of Open MPI and MPICH, where the library has them, and
/// tries nothing out.
/// @return nothing: it cannot be asked
std::optional<bool> takes_cuda_memory();
std::optional<bool> takes_hip_memory();

}  // namespace commpass
