// What it costs to plan an exchange: before the first data, the headers of its blocks travel the route (runtime/plan.hpp).
#pragma once

#include "model/cost.hpp"
#include "model/strategy.hpp"

namespace commpass {

/// Predicts the seconds to plan an exchange whose strategy is known: in each stage the messages of the schedule, with headers in place of data and all
/// at once, and the small collectives by which ranks learn how many headers come, and that no rank has failed. Such a collective costs what an
/// allreduce was measured to cost, else α·⌈log₂ P⌉. Not counted is what the ranks compute.
/// @param schedule  of coalesced messages, also where the strategy is staggered
/// @throws InputError as evaluate
Seconds plan_seconds(Schedule schedule, const Strategy& strategy, const Layout& layout, const Machine& machine, CostModel model = CostModel::burst);

/// As plan_seconds, without a schedule (estimate).
/// @throws InputError as evaluate, NotApplicable if the route has no closed form
Seconds estimate_plan_seconds(RandomPattern pattern, const Route& route, const Layout& layout, const Machine& machine, CostModel model = CostModel::burst);

}  // namespace commpass
