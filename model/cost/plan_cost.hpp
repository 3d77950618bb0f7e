// What it costs to plan an exchange: before the first data, the headers of its blocks travel the route
// (runtime/plan/plan.hpp), or their sizes.
#pragma once

#include <span>

#include "model/cost/cost.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// What a reduction or broadcast of a few numbers over all ranks takes: as an allreduce was measured to take, else
/// α·⌈log₂ P⌉.
/// @throws InputError if it was not measured and the machine has no parameters for the farthest level of the layout
Seconds small_collective_seconds(const Layout& layout, const Machine& machine);

/// The collective calls by which ranks plan an exchange whose strategy is known.
struct PlanCollectives {
  int small = 0;         ///< of a few numbers
  int counting = 0;      ///< that tell every rank how many headers come to it
  int counted_ints = 1;  ///< for each rank, in each of these
};

/// @param stages        of the route
/// @param needs_tables  of the pattern (pattern_need)
PlanCollectives plan_collectives(std::span<const StageInfo> stages, Coalescing coalescing, bool needs_tables);

/// Predicts the seconds to plan an exchange whose strategy is known: in each stage the messages of the schedule, with
/// headers in place of data and all at once, unless edges_tell_all; and plan_collectives. Not counted is what the ranks
/// compute.
/// @param schedule  of coalesced messages, also where the strategy is staggered
/// @throws InputError as evaluate
Seconds plan_seconds(Schedule schedule, const Strategy& strategy, const Layout& layout, const Machine& machine,
                     CostModel model = CostModel::burst);

/// As plan_seconds, without a schedule (estimate).
/// @throws InputError as evaluate, NotApplicable if the route has no closed form
Seconds estimate_plan_seconds(RandomPattern pattern, const Route& route, const Layout& layout, const Machine& machine,
                              CostModel model = CostModel::burst);

/// Predicts the seconds in which ranks tell the sizes of blocks that are forwarded, ahead of an exchange that is run
/// once: the stages of an all-to-all of one number a block, all but the last, at whose end blocks are known (TuNA paper
/// §III-B, two phases). Those of all rounds of a stage go at once; they are numbers in a list, and no blocks to be
/// copied.
/// @throws as estimate
Seconds estimate_size_seconds(const Route& route, const Layout& layout, const Machine& machine,
                              CostModel model = CostModel::burst);

}  // namespace commpass
