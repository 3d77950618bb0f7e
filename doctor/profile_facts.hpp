// Which profile would be used here, how old it is, and whether it belongs here.
#pragma once

#include <string>
#include <vector>

#include "doctor/findings.hpp"

namespace commpass {

/// @param library  name and version of the MPI library
/// @param hosts    names of the hosts that run
ProfileFacts examine_profile(const std::string& library, const std::vector<std::string>& hosts);

}  // namespace commpass
