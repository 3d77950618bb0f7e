// The two ways in which evaluate() prices a schedule. Private to the model.
#pragma once

#include "model/cost.hpp"

namespace commpass {

/// postal and max-rate: bulk-synchronous, as in the papers.
Cost evaluate_bulk(const Schedule& schedule, const Layout& layout, const Machine& machine, bool max_rate);

/// burst: the finish time of the slowest rank.
Cost evaluate_burst(const Schedule& schedule, const Layout& layout, const Machine& machine);

/// A StageCost with its label, messages_max and bytes_max.
StageCost count_messages(const Stage& stage);

}  // namespace commpass
