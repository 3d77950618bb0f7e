// Which profile a program that names none takes here, how old it is, and whether it belongs here.
#pragma once

#include <string>
#include <vector>

#include "doctor/findings.hpp"
#include "model/machine/profile_lookup.hpp"

namespace commpass {

/// @param here   this machine; has the MPI library
/// @param hosts  names of the hosts that run
ProfileFacts examine_profile(const Fingerprint& here, const Layout& layout, const std::vector<std::string>& hosts);

}  // namespace commpass
