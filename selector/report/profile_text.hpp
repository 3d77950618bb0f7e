// What commands tell of profiles: one, two that are compared, several that are merged.
#pragma once

#include <ctime>
#include <span>
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

/// The parameters of both profiles with their ratios (second ÷ first), predicted times of lone messages, and the names
/// of parameters of one profile alone. JSON and CSV also have the values of these; CSV has a line for each parameter
/// of either profile, and each lone message (`kind`: parameter, message).
Document compare_profiles(const Profile& first, const Profile& second);

struct NamedProfile {
  std::string name;  ///< of its file
  Profile profile;
};

/// Takes each part (a channel, a rate of a level, copies, operations) from one profile: the median one by the time or
/// rate of the part; operations from among the profiles with the most ranks. The verdict, if a profile has one,
/// contains the spread of the profiles. The provenance has the origin of each part and, as `fits`, the prediction
/// intervals of α and β for one more launch (launch_statistics.hpp).
/// @param profiles  at least two
/// @throws InputError if there are fewer, or if no profile has the levels of all
Profile merge_profiles(std::span<const NamedProfile> profiles);

}  // namespace commpass
