// Which MPI library this is.
#pragma once

#include <string>

namespace commpass {

/// Name and version, "Open MPI v4.1.4": of MPI_Get_library_version what stands before the first comma or the end of the
/// line.
std::string mpi_library();

}  // namespace commpass
