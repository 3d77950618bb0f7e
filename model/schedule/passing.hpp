// A part of a pattern that is all there is for some ranks: the blocks that pass through them.
#pragma once

#include <vector>

#include "model/schedule/schedule.hpp"

namespace commpass {

/// The blocks that begin, end or are held between stages on one of some ranks. In its schedule these ranks send, get
/// and copy what they do in that of the whole pattern; others do less. So it takes no longer, but for the order in
/// which late messages are taken in.
/// @param pattern   not cut
/// @param is_given  by rank
PreparedPattern passing(const PreparedPattern& pattern, const Route& route, const std::vector<bool>& is_given);

/// The blocks that begin or end on one of some ranks.
PreparedPattern beginning_or_ending(const PreparedPattern& pattern, const std::vector<bool>& is_given);

}  // namespace commpass
