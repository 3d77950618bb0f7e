// What an all-to-all that is called once is chosen among, and which is the cheapest. Private to the runtime.
#pragma once

#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/route/strategy.hpp"
#include "runtime/choose/one_shot_chooser.hpp"
#include "runtime/plan/planning.hpp"
#include "selector/choose/alltoall_choice.hpp"

namespace commpass {

/// @throws InputError; NotApplicable for strategies that no one-shot exchange can run
Strategy parse_one_shot_strategy(const std::string& text);

/// Among which decisions a choice is: those for data on devices are apart from those for data in host memory.
/// @param named  empty, or an automatic strategy. The path of that is named with it
const std::string& decisions_for(const std::string& named, const DeviceUse& devices);

/// The cheapest for blocks like these, of all or of the family that is named; and, unless `planner` is estimate, those
/// to be timed: the MPI library's call, standard, and those with the best prices. Of a family nothing is timed.
/// @param sizes    of the blocks: do all ranks know them?
/// @param devices  of all ranks
/// @param shares   may messages within nodes go through their memory?
/// @throws InputError, NotApplicable
Decision decide_alltoallv(const std::string& named, const RandomPattern& blocks, BlockSizes sizes,
                          const DeviceUse& devices, bool shares, PlannerMode planner, const Layout& layout,
                          const Machine& machine);

}  // namespace commpass
