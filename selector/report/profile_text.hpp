// A profile for people: `profile show`.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "model/machine/profile.hpp"

namespace commpass {

/// The parameters with units, the verdict, and where they come from.
/// @param path  of its file
/// @param now   by which its age is told
std::string describe_profile(const Profile& profile, const std::string& path, std::time_t now);

/// Parameters that are absent, and what prices use instead.
struct AbsentParameters {
  std::string names;     ///< a pattern where the parameter is absent everywhere, else all of its names
  std::string stand_in;  ///< "no limit", "0"
};
/// In the order of the table, without those that no price uses. Rates of levels count only where no level has one.
std::vector<AbsentParameters> absent_parameters(const Machine& machine);

/// "receivers, local copies": what prices of exchanges use and the profile does not know, for people; empty: nothing.
std::string missing_parts(const Machine& machine);

/// Lines without the end of the last one: the trust and the uncertainty, "  why: …", and "  to do: …" where there is a
/// remedy; for profiles without a verdict one line that says so.
std::string describe_verdict(const Machine& machine);

}  // namespace commpass
