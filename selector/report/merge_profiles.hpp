// Merges profiles of one machine: of several launches, or of layouts that measure different parameters.
#pragma once

#include <span>
#include <string>

#include "model/machine/profile.hpp"

namespace commpass {

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
