// Differences of two machine profiles.
#pragma once

#include "model/machine/profile.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// The parameters of both profiles with their ratios (second ÷ first), predicted times of lone messages, and the names
/// of parameters of one profile alone. JSON and CSV also have the values of these; CSV has a line for each parameter
/// of either profile, and each lone message (`kind`: parameter, message).
Document compare_profiles(const Profile& first, const Profile& second);

}  // namespace commpass
