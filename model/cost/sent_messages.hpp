// What a rank sends in a stage of an all-to-all or of a random pattern, in runs of alike messages. Private to the
// model.
#pragma once

#include <vector>

#include "model/cost/block_draw.hpp"
#include "model/cost/folding.hpp"

namespace commpass {

/// Appends the messages that a rank of the node sends in a stage, in order of their rounds.
void append_messages_of(Rank rank, int stage, Window window, double block_bytes, BlockDraw& draw, const Route& route,
                        const Layout& layout, std::vector<AlikeRun>& result);

}  // namespace commpass
