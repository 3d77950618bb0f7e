// What the MPI library that runs says of itself, and what a program runs with, for comparison with the origin of its
// profile.
#pragma once

#include <optional>
#include <string>

#include "model/machine/layout.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {

/// The text of MPI_Get_library_version. @throws MpiError
std::string mpi_library_text();

/// Name and version, "Open MPI v4.1.4": that text up to the first comma or the end of the line. @throws MpiError
std::string mpi_library();

/// Is it MPICH, or a library that was made of it? With the standard's ABI that is known when MPI runs. @throws MpiError
bool is_mpich();

/// Does it take addresses of device memory? Asks the extensions of Open MPI and MPICH, where the library has them, and
/// tries nothing out.
/// @return nothing: it cannot be asked
std::optional<bool> takes_cuda_memory();
std::optional<bool> takes_hip_memory();

/// The machine, as the node of the calling rank shows it; independent of how ranks are bound. Local.
Fingerprint fingerprint_here();

/// The MPI library and its settings, the partition, and the ranks a node; without the hosts, whose names travel. Local.
Surroundings surroundings_here(const Layout& layout);

}  // namespace commpass
