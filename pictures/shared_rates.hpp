// Shared rates: the rate of a pair of ranks over the number of active pairs.
#pragma once

#include "model/machine/profile.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// Does the profile have a shared rate, or measurements of one?
bool has_shared_rates(const Profile& profile);

/// Lines of the max-rate model, max(alone, alpha + pairs·bytes / rate), within a socket, within a node, out of a node
/// and into one; and measured points with their intervals, if the profile keeps them.
/// @throws InputError unless has_shared_rates
Picture draw_shared_rates(const Profile& profile, const std::string& id = "rates");

}  // namespace commpass
