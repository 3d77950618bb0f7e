// Which profile a program that names none takes here, how old it is, and whether it belongs here.
#pragma once

#include "doctor/findings.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {

/// @param here  this machine
/// @param runs  with the names of the hosts
ProfileFacts examine_profile(const Fingerprint& here, const Layout& layout, const Surroundings& runs);

}  // namespace commpass
