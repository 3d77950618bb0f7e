// The text of a profile: `profile show`.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "model/machine/profile.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// The verdict, the parameters with units, and the provenance.
/// @param path  of its file
/// @param now   for its age
std::string describe_profile(const Profile& profile, const std::string& path, std::time_t now);

/// An absent parameter and its stand-in.
struct AbsentParameters {
  std::string names;     ///< a pattern if the parameter is absent everywhere, else a list
  std::string stand_in;  ///< "no limit", "0"
};
/// In the order of the table, without parameters that no price uses. Rates of levels are absent only if no level has
/// one.
std::vector<AbsentParameters> absent_parameters(const Machine& machine);

/// "receivers, local copies": the groups of parameters that prices use and the profile lacks; empty: none.
std::string missing_parts(const Machine& machine);

/// A row for each parameter: its name as --set takes it, its unit, its meaning, the meaning of its absence, its
/// stand-in, the strategies that are then not offered, and the file of its experiment.
Table parameter_table();

/// Trust and uncertainty, "\n  why: …", and "\n  to do: …" if there is a remedy; one line for profiles without a
/// verdict.
std::string describe_verdict(const Machine& machine);

}  // namespace commpass
