// Shared rates: what each of the pairs of ranks that are active at once gets of what a node or a socket moves.
#pragma once

#include "model/machine/profile.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// Does the profile know a rate that ranks share, or was one looked for?
bool has_shared_rates(const Profile& profile);

/// The rate of a pair over the number of pairs, within a socket, within a node, out of a node and into one: what the
/// max-rate line says, max(alone, alpha + pairs·bytes / rate), and, where the profile keeps it, what was measured, with
/// its intervals. Rates that were measured and not kept have no line.
/// @throws InputError unless has_shared_rates
Picture draw_shared_rates(const Profile& profile, const std::string& id = "rates");

}  // namespace commpass
