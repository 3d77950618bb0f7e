// The profile of this machine: where `calibrate` writes it, and how commands find it, if none is named.
#pragma once

#include <string>

#include "model/machine/layout.hpp"
#include "model/machine/profile_lookup.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

/// The layout that asks for all parameters of a machine: for commands that look for a profile before they know theirs.
Layout any_layout();

/// The path of the named profile, else of COMMPASS_PROFILE, else of the profile that was measured on this machine, of
/// which one line on stderr tells once in a process.
/// @param name    empty: none
/// @param here    gives this machine; asked where no profile is named
/// @param layout  a profile that has its parameters is preferred
/// @throws InputError if there is none
std::string find_profile_or_default(const std::string& name, const Environment& environment,
                                    Fingerprint (*here)() = host_fingerprint, const Layout& layout = any_layout());

/// Where `calibrate` writes the profile of a machine, if it is not told: NAME.json in the user's directory, which is
/// made.
/// @throws InputError if the user has no directory, or the name is none of a file
std::string make_default_output(const std::string& machine_name, const Environment& environment);

/// One sentence if a file holds a profile that was measured on another machine or with another MPI library than this
/// one, or by hand; empty: there is no such file, or it is of this machine.
/// @param here  without an MPI library, that is not compared
std::string replaced_warning(const std::string& path, const Fingerprint& here);

}  // namespace commpass
