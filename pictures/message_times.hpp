// Message times: the fitted lines of a profile over the size of a message.
#pragma once

#include "model/machine/profile.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// A line for each level of the profile, and another for the sender's time of a further message of a burst if that is
/// shorter. Marks are switch points of protocols. Bands are the intervals of the fits, and squares measured times, if
/// the profile has them.
/// @param other  draws the lines of another profile, too; null: none
/// @throws InputError if the profile has no level
Picture draw_message_times(const Profile& profile, const Profile* other = nullptr, const std::string& id = "messages");

}  // namespace commpass
