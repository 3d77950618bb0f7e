// What it costs to tell the sizes of blocks that are forwarded, ahead of an exchange that is run once.
#pragma once

#include "model/cost/cost.hpp"

namespace commpass {

/// The stages of an all-to-all of one number a block, all but the last, at whose end blocks are known (TuNA paper
/// §III-B, two phases). Those of all rounds of a stage go at once; they are numbers in a list, and no blocks to be
/// copied.
/// @throws as estimate
Seconds telling_seconds(const Route& route, const Layout& layout, const Machine& machine, CostModel model);

}  // namespace commpass
