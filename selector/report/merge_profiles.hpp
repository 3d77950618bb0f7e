// One profile of several: of launches that differ, or of layouts that show different things.
#pragma once

#include <span>
#include <string>

#include "model/machine/profile.hpp"

namespace commpass {

struct NamedProfile {
  std::string name;  ///< of its file
  Profile profile;
};

/// Takes each part (a channel, a rate of a level, copies, operations) whole from one of the profiles that have it: from
/// the one in the middle, by what the part takes; of operations from among those with the most ranks. What the profiles
/// differ by is part of the verdict, if one of them has any, and the provenance names the origin of each part and, as
/// `fits`, where α and β of one more launch lie with a probability of 95 % (launch_intervals.hpp).
/// @param profiles  at least two
/// @throws InputError if there are fewer, or if no profile has the levels of all
Profile merge_profiles(std::span<const NamedProfile> profiles);

}  // namespace commpass
