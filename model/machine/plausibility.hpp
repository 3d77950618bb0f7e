// Physical bounds of the parameters of a machine, wherever they were measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// One more message keeps a processor no longer than twice what a lone one takes altogether: caches hold the bytes of
/// one message that is sent again and again, and not those of many.
inline constexpr double most_of_lone_message = 2;

/// For people, a sentence for each parameter that breaks a rule: α_next and α_receive ≤ α; what one more message costs
/// at most twice a lone one, at the largest size of its protocol; no time that falls from one protocol to the next; no
/// rate within a node beyond what the copies of `ranks_of_node` ranks move. Empty where all is plausible.
/// @param ranks_of_node  0: not known, and the last rule is left out
std::vector<std::string> implausible(const Machine& machine, int ranks_of_node = 0);

/// The first contradiction between a profile and real machines: a parameter outside its plausible range, which is in
/// another unit, or levels that are not listed innermost first, as messages of all sizes take more than twice as long
/// within the inner one.
/// @param origin  what to call the profile
std::optional<InputError> find_misread(Machine machine, const std::string& origin);

}  // namespace commpass
