// How two machine profiles differ: for people a table, for machines JSON.
#pragma once

#include <string>

#include "model/machine/profile.hpp"

namespace commpass {

/// The numbers that both profiles have with their ratios (second ÷ first), the predicted times of lone messages of
/// several sizes, and what only one of them has. The JSON has also the numbers of one profile alone.
std::string compare_profiles_table(const Profile& first, const Profile& second);
std::string compare_profiles_json(const Profile& first, const Profile& second);
/// The numbers of either profile and the times of lone messages (`kind`: parameter, message), a line for each.
std::string compare_profiles_csv(const Profile& first, const Profile& second);

}  // namespace commpass
