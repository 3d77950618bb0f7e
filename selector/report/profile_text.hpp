// A profile for people: `profile show`.
#pragma once

#include <ctime>
#include <string>

#include "model/machine/profile.hpp"

namespace commpass {

/// The parameters with units, the verdict, and where they come from.
/// @param path  of its file
/// @param now   by which its age is told
std::string describe_profile(const Profile& profile, const std::string& path, std::time_t now);

/// "good: why", with the remedy behind it; for profiles without one that nobody judged it.
std::string describe_verdict(const Machine& machine);

}  // namespace commpass
