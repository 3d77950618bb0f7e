// Differences of two machine profiles: a table, JSON and CSV.
#pragma once

#include <string>

#include "model/machine/profile.hpp"

namespace commpass {

/// The parameters of both profiles with their ratios (second ÷ first), predicted times of lone messages, and the names
/// of parameters of one profile alone.
std::string compare_profiles_table(const Profile& first, const Profile& second);
/// As the table, and the values of parameters of one profile alone.
std::string compare_profiles_json(const Profile& first, const Profile& second);
/// A line for each parameter of either profile, and each lone message (`kind`: parameter, message).
std::string compare_profiles_csv(const Profile& first, const Profile& second);

}  // namespace commpass
