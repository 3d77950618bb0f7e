// Does a profile belong to the MPI library that runs?
#pragma once

#include <string>

#include "model/profile.hpp"

namespace commpass {

/// One sentence if a profile was measured with another MPI library than the one that runs, or does not say with which, as those
/// that come from publications; else nothing.
/// @param mpi_library  as a calibration with this library would name it in the provenance
std::string provenance_warning(const Profile& profile, const std::string& mpi_library);

}  // namespace commpass
