// The profile that a program takes where none is named: the one that was measured on the machine at hand, else the
// generic one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/profile_lookup.hpp"

namespace commpass {

/// Why a program takes the profile that it takes.
enum class ProfileChoice { named, measured_here, built_in };

struct FoundProfile {
  Profile profile;
  ProfileChoice choice = ProfileChoice::built_in;
  std::string path{};  ///< empty: built in
};

/// The profile that was measured on a machine with this fingerprint: of several one that has all parameters that the
/// layout asks for, then the youngest. Files that cannot be read are passed over.
/// @param here  without an MPI library, profiles of all libraries match
std::optional<FoundProfile> find_measured_profile(const std::vector<std::string>& directories, const Fingerprint& here,
                                                  const Layout& layout);

/// One line, without its end, for a profile that is taken since none is named: its name and its path.
std::string describe_unnamed(const FoundProfile& found);

/// What programs take where no profile is named: find_measured_profile(), else generic_profile().
FoundProfile find_unnamed_profile(const std::vector<std::string>& directories, const Fingerprint& here,
                                  const Layout& layout);

}  // namespace commpass
