// Message times: what a profile says that messages cost, by size.
#pragma once

#include "model/machine/profile.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// A line for each level that the profile has, and one for what a further message of a burst costs its sender, where
/// that is less; switch points of protocols are marked. Bands are what the fits' intervals leave open, where the
/// profile tells them. Profiles keep no samples.
/// @param other  a profile to compare with, whose lines are drawn, too; null: none
/// @throws InputError if the profile has no level
Picture draw_message_times(const Profile& profile, const Profile* other = nullptr, const std::string& id = "messages");

}  // namespace commpass
